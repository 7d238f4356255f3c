-- What the importers have read.

CREATE TABLE imported_files (           -- files that imports have read: those that are unchanged are not read again
    path   TEXT NOT NULL,
    source TEXT NOT NULL,               -- the importer
    size   INTEGER NOT NULL,
    mtime  INTEGER NOT NULL,            -- nanoseconds
    tail   BLOB NOT NULL,               -- hash of its last bytes
    reader TEXT NOT NULL,               -- the version of bough that read it: a newer one may understand more
    PRIMARY KEY (path, source)
) STRICT, WITHOUT ROWID;
