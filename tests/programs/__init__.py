"""Programs that tests share, and the tests that run them."""
