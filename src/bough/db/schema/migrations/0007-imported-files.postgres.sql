-- What the importers have read.

CREATE TABLE bough.imported_files (
    namespace text COLLATE "C" NOT NULL,
    path      text COLLATE "C" NOT NULL,
    source    text COLLATE "C" NOT NULL,
    size      bigint NOT NULL,
    mtime     bigint NOT NULL,
    tail      bytea NOT NULL,
    reader    text NOT NULL,
    PRIMARY KEY (namespace, path, source)
);

ALTER TABLE bough.imported_files ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON bough.imported_files USING (namespace = current_setting('bough.namespace', true));
ALTER TABLE bough.imported_files FORCE ROW LEVEL SECURITY;
