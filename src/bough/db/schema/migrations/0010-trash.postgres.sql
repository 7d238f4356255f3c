-- An entry of the trash is removed without reading the whole journal.

CREATE INDEX journal_trash ON bough.journal (namespace, trash) WHERE trash IS NOT NULL;
