"""Generated code, differentiated again: what second order needs to know of our own texts."""
