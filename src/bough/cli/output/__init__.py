"""Output of the command line: console, text, tables, times, Markdown, trees, transcripts and streamed replies."""
