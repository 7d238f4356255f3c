"""Conversations from elsewhere into the store: match what is stored already, and store the rest as turns."""
