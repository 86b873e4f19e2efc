-- Results of assay. Times are nanoseconds unless a name says otherwise; seeds are decimal text,
-- because SQLite's integers are signed and a seed uses all 64 bits.
CREATE TABLE run (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    plan            TEXT NOT NULL,
    plan_text       TEXT NOT NULL,
    quick           INTEGER NOT NULL,
    target          TEXT NOT NULL,
    target_identity TEXT NOT NULL,
    size_bytes      INTEGER,
    seed            TEXT NOT NULL,
    repeats         INTEGER,
    state           TEXT NOT NULL CHECK (state IN ('running', 'complete', 'failed')),
    error           TEXT,
    started_ms      INTEGER NOT NULL,
    finished_ms     INTEGER,
    version         TEXT NOT NULL,
    git_commit      TEXT NOT NULL,
    environment     TEXT NOT NULL,
    -- Whether the page cache was passed by; 1 for simulated drives, which have none.
    direct          INTEGER NOT NULL DEFAULT 1,
    -- What tells a real target from another of its name; null where nothing does.
    target_fingerprint TEXT,
    -- Whether lengths that the plan gives for simulated drives were taken.
    simulated       INTEGER NOT NULL DEFAULT 0,
    -- When how much of its work was done, as JSON of `lab::Course`; null until all is.
    course          TEXT,
    -- How much of the target is used; null in stores of before version 11.
    capacity_bytes  INTEGER,
    -- A simulated drive as it was when the run began, as JSON of `lab::DriveRecord`; null for real targets.
    drive           TEXT,
    -- What the run is in every store that has it.
    uuid            TEXT,
    -- What the runs that one command started have in common; null where it started one.
    group_name      TEXT,
    -- Of a shard: the UUID of the run that it is a part of, and which part it is, from 1.
    whole           TEXT,
    shard           INTEGER,
    -- How many parts there are: of a shard, and of the run that is made of shards and has no measurements of its own.
    shards          INTEGER
);

-- All that a list of runs shows, so that none of the long texts between has to be read past.
CREATE INDEX run_listed ON run (id, plan, quick, target, target_identity, state, started_ms, finished_ms);

CREATE UNIQUE INDEX run_identified ON run (uuid);
CREATE INDEX run_grouped ON run (group_name);
CREATE INDEX run_joined ON run (whole, shard);

-- One repeat of one cell of one step.
CREATE TABLE measurement (
    id              INTEGER PRIMARY KEY,
    run             INTEGER NOT NULL REFERENCES run (id),
    step            TEXT NOT NULL,
    cell            TEXT NOT NULL,
    repeat          INTEGER NOT NULL,
    seed            TEXT NOT NULL,
    clock           TEXT NOT NULL CHECK (clock IN ('virtual', 'real')),
    workload        TEXT NOT NULL,
    elapsed_ns      INTEGER NOT NULL,
    iops            REAL NOT NULL,
    bytes_per_s     REAL NOT NULL,
    latency_mean_ns REAL NOT NULL,
    latency_p50_ns  INTEGER NOT NULL,
    latency_p99_ns  INTEGER NOT NULL,
    latency_p9999_ns INTEGER NOT NULL,
    read_requests   INTEGER NOT NULL,
    read_bytes      INTEGER NOT NULL,
    read_latency    BLOB NOT NULL,
    write_requests  INTEGER NOT NULL,
    write_bytes     INTEGER NOT NULL,
    write_latency   BLOB NOT NULL,
    trim_requests   INTEGER NOT NULL,
    trim_bytes      INTEGER NOT NULL,
    trim_latency    BLOB NOT NULL,
    series          BLOB NOT NULL,
    cpu             TEXT,
    drive           TEXT,
    flush_requests  INTEGER NOT NULL DEFAULT 0,
    flush_latency   BLOB,
    -- Latencies from submission; null where the others are just that.
    read_service    BLOB,
    write_service   BLOB,
    trim_service    BLOB,
    -- Requests that failed, by kind and reason, and what came of checking written data; null where there is nothing.
    failures        TEXT,
    verified        TEXT,
    -- What was consumed, by whom it was metered; null where nobody did.
    energy          TEXT,
    UNIQUE (run, step, cell, repeat)
);

-- The health of a run's drive at its beginning and at its end, as JSON of `lab::health::Reading`.
CREATE TABLE health (
    run             INTEGER NOT NULL REFERENCES run (id),
    moment          TEXT NOT NULL CHECK (moment IN ('before', 'after')),
    reading         TEXT NOT NULL,
    UNIQUE (run, moment)
);

-- What came of a trial of what stands above the drive, as JSON of `trial::Trial`.
CREATE TABLE trial (
    run             INTEGER NOT NULL REFERENCES run (id),
    step            TEXT NOT NULL,
    cell            TEXT NOT NULL,
    repeat          INTEGER NOT NULL,
    result          TEXT NOT NULL,
    UNIQUE (run, step, cell, repeat)
);

-- Doubts about a run or a part of it. Empty step and cell: the whole run, the whole step.
CREATE TABLE finding (
    run             INTEGER NOT NULL REFERENCES run (id),
    step            TEXT NOT NULL,
    cell            TEXT NOT NULL,
    text            TEXT NOT NULL,
    UNIQUE (run, step, cell, text)
);

-- What runs are held against, by name: as JSON of `plan::gate::Baseline`, which needs its run no longer.
CREATE TABLE baseline (
    name            TEXT NOT NULL PRIMARY KEY,
    document        TEXT NOT NULL
);

-- What people added to a run: any number of tags, one note, one price.
CREATE TABLE annotation (
    run             INTEGER NOT NULL REFERENCES run (id),
    kind            TEXT NOT NULL CHECK (kind IN ('tag', 'note', 'price')),
    text            TEXT NOT NULL,
    UNIQUE (run, kind, text)
);
