"""The page and the web endpoints; knows the backend only by its public names."""
