"""The recording proxy: requests that pass to a provider as they are, and are kept."""
