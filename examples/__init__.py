"""Functions and the derivatives that srcgrad writes for them."""
