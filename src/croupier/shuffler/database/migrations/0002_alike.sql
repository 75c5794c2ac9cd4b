-- As before, and a report that is there already is answered after as long a time as a new one: both
-- are written by one statement, and both wait until the log is on the disk.
CREATE OR REPLACE FUNCTION croupier.accept(
    wanted bytea, sent bytea, width integer, tagged integer
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    -- One or a few senders. With more, others' rows hide how long one of them takes.
    few CONSTANT integer := 16;
    name text := 'env_' || encode(wanted, 'hex');
    found text;
    resolving boolean := tagged > 0 AND length(sent) <= few * width;
    written integer;
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
    IF tagged > 0 AND NOT resolving THEN
        EXECUTE format(
            'SELECT EXISTS (SELECT FROM croupier.%I WHERE tag IS NOT NULL AND tag IN ('
            'SELECT substring($1 FROM $2 * i + 1 FOR $3) '
            'FROM generate_series(0, length($1) / $2 - 1) AS i))', name)
            INTO resolving USING sent, width, tagged;
    END IF;
    IF resolving THEN
        EXECUTE insertion || ' ON CONFLICT DO NOTHING' USING sent, width, tagged;
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written = 0 THEN
            -- Without anything to log, the commit would not wait for the disk. Zeros, of as many bytes.
            PERFORM pg_logical_emit_message(true, '', decode(repeat('00', length(sent)), 'hex'));
        END IF;
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
