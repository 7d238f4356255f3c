-- An entry of the trash is removed without reading the names of the others.

CREATE INDEX trash_names_trash ON trash_names (trash);
CREATE INDEX journal_trash ON journal (trash) WHERE trash IS NOT NULL;
