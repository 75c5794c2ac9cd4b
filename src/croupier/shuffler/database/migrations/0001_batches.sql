-- Nothing here tells when or in which order reports came: no sequence, no time but a round's own.
CREATE TABLE croupier.batches (
    batch bytea PRIMARY KEY CHECK (length(batch) = 16),
    plan bytea NOT NULL CHECK (length(plan) = 32),
    round integer NOT NULL CHECK (round >= 0),
    state text NOT NULL CHECK (state IN ('open', 'sealed', 'released', 'shredded', 'disposed')),
    opened timestamptz NOT NULL,
    keys text NOT NULL,
    query text,
    UNIQUE (plan, round)
);

CREATE TABLE croupier.receipts (
    plan bytea NOT NULL CHECK (length(plan) = 32),
    number integer NOT NULL CHECK (number >= 0),
    document text NOT NULL,
    PRIMARY KEY (plan, number)
);

-- One table per batch. The tag is a keyed hash whose key is destroyed with the batch; being unique,
-- it makes the first commit win. Rows that a relay sent have none.
CREATE FUNCTION croupier.create_envelopes(wanted bytea) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text := 'env_' || encode(wanted, 'hex');
BEGIN
    EXECUTE format('CREATE TABLE croupier.%I (tag bytea, envelope bytea NOT NULL)', name);
    EXECUTE format('CREATE UNIQUE INDEX ON croupier.%I (tag) WHERE tag IS NOT NULL', name);
    -- Ciphertext does not compress: trying costs time and gains nothing.
    EXECUTE format('ALTER TABLE croupier.%I ALTER envelope SET STORAGE EXTERNAL', name);
    -- Statistics of a column are samples of its values, kept in another table that outlives this one.
    EXECUTE format('ALTER TABLE croupier.%I ALTER tag SET STATISTICS 0', name);
    EXECUTE format('ALTER TABLE croupier.%I ALTER envelope SET STATISTICS 0', name);
END $$;

-- Writes rows of `width` bytes, each a tag of `tagged` bytes, none if 0, and an envelope. Returns the
-- state of the batch: they are stored, or their tags were before, exactly if it is open.
CREATE FUNCTION croupier.accept(wanted bytea, sent bytea, width integer, tagged integer)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    name text := 'env_' || encode(wanted, 'hex');
    found text;
    repeated boolean := false;
    insertion text := format(
        'INSERT INTO croupier.%I (tag, envelope) SELECT '
        'CASE WHEN $3 > 0 THEN substring($1 FROM $2 * i + 1 FOR $3) END, '
        'substring($1 FROM $2 * i + $3 + 1 FOR $2 - $3) '
        'FROM generate_series(0, length($1) / $2 - 1) AS i', name);
BEGIN
    SELECT state INTO found FROM croupier.batches WHERE batch = wanted;
    IF found IS DISTINCT FROM 'open' THEN
        RETURN found;
    END IF;
    -- Waits for a seal that has begun, and holds back a seal that begins now.
    EXECUTE format('LOCK TABLE croupier.%I IN ROW EXCLUSIVE MODE', name);
    SELECT state INTO found FROM croupier.batches WHERE batch = wanted;
    IF found IS DISTINCT FROM 'open' THEN
        RETURN found;
    END IF;
    -- Most rows are new, and resolving conflicts doubles the work. But an insertion that fails leaves
    -- its rows in the file: what is repeated must not fill the table.
    IF tagged > 0 THEN
        EXECUTE format(
            'SELECT EXISTS (SELECT FROM croupier.%I WHERE tag IS NOT NULL AND tag IN ('
            'SELECT substring($1 FROM $2 * i + 1 FOR $3) '
            'FROM generate_series(0, length($1) / $2 - 1) AS i))', name)
            INTO repeated USING sent, width, tagged;
    END IF;
    IF repeated THEN
        EXECUTE insertion || ' ON CONFLICT DO NOTHING' USING sent, width, tagged;
        RETURN found;
    END IF;
    -- Two who bring one tag at once. An error that is caught here is not written to the server's log,
    -- where a tag would be an arrival with its time.
    BEGIN
        EXECUTE insertion USING sent, width, tagged;
    EXCEPTION WHEN unique_violation THEN
        EXECUTE insertion || ' ON CONFLICT DO NOTHING' USING sent, width, tagged;
    END;
    RETURN found;
END $$;

-- Whoever closes a batch waits for the reports that are being written: none is acknowledged and
-- then missed.
CREATE FUNCTION croupier.wait_for_reports() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    name text := 'env_' || encode(OLD.batch, 'hex');
BEGIN
    -- A batch whose table is lost can still be closed.
    IF to_regclass('croupier.' || name) IS NOT NULL THEN
        EXECUTE format('LOCK TABLE croupier.%I IN SHARE MODE', name);
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER closing BEFORE UPDATE OF state ON croupier.batches
    FOR EACH ROW WHEN (OLD.state = 'open' AND NEW.state <> 'open')
    EXECUTE FUNCTION croupier.wait_for_reports();

-- How many rows have, in the column `tag` or `envelope`, one of the values of `width` bytes; null once
-- the table is dropped and nobody can tell.
CREATE FUNCTION croupier.stored(wanted bytea, place text, given bytea, width integer)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    name text := 'env_' || encode(wanted, 'hex');
    count bigint;
BEGIN
    IF to_regclass('croupier.' || name) IS NOT NULL THEN
        EXECUTE format(
            'SELECT count(*) FROM croupier.%I WHERE %I IN ('
            'SELECT substring($1 FROM $2 * i + 1 FOR $2) '
            'FROM generate_series(0, length($1) / $2 - 1) AS i)', name, place)
            INTO count USING given, width;
    END IF;
    RETURN count;
END $$;
