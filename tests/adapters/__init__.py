"""The adapters, each with its SDK and a model that is a server on the loopback interface."""
