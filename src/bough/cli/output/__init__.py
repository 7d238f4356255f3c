"""What is printed: the console, text and tables, Markdown, trees, transcripts and replies as they arrive."""
