-- No time and no sequence: when a person enrolled or asked is nobody's business later. Statistics of a
-- column are samples of its values, kept in another table that outlives the rows: there are none.
CREATE TABLE issuer.people (
    identity bytea PRIMARY KEY CHECK (length(identity) = 16),
    -- The keyed hash of an invitation or an account, which admits one device; null if there is none.
    subject bytea UNIQUE CHECK (length(subject) = 32)
);
ALTER TABLE issuer.people ALTER identity SET STATISTICS 0, ALTER subject SET STATISTICS 0;

CREATE TABLE issuer.counts (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    people bigint NOT NULL
);
INSERT INTO issuer.counts (people) VALUES (0);

-- Enrols a device, once however often it asks. Says 'enrolled'; 'taken' if another device used the
-- invitation or account; 'full' if as many people as the plans allow are enrolled.
CREATE FUNCTION issuer.enrol(wanted bytea, holder bytea, most bigint)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    enrolled bigint;
BEGIN
    -- One at a time, so that two devices with one invitation do not both pass.
    SELECT people INTO enrolled FROM issuer.counts FOR UPDATE;
    IF EXISTS (SELECT FROM issuer.people WHERE identity = wanted) THEN
        RETURN 'enrolled';
    END IF;
    IF EXISTS (SELECT FROM issuer.people WHERE subject = holder) THEN
        RETURN 'taken';
    END IF;
    IF enrolled >= most THEN
        RETURN 'full';
    END IF;
    INSERT INTO issuer.people (identity, subject) VALUES (wanted, holder);
    UPDATE issuer.counts SET people = people + 1;
    RETURN 'enrolled';
END $$;

-- One row per person and coming round: the hash of the blinded message that was signed for them.
CREATE TABLE issuer.issued (
    plan bytea NOT NULL CHECK (length(plan) = 32),
    round integer NOT NULL CHECK (round >= 0),
    identity bytea NOT NULL CHECK (length(identity) = 16),
    blinded bytea NOT NULL CHECK (length(blinded) = 32),
    PRIMARY KEY (plan, round, identity)
);
ALTER TABLE issuer.issued ALTER identity SET STATISTICS 0, ALTER blinded SET STATISTICS 0;

-- The newest round of a plan that was seen open, -1 before the first: no more tokens are issued for it
-- or earlier ones.
CREATE TABLE issuer.opened (
    plan bytea PRIMARY KEY CHECK (length(plan) = 32),
    round integer NOT NULL CHECK (round >= -1)
);

-- Records what is signed for a person. Says 'issued', now or before for the same message; 'other' if
-- another message was signed for them; 'closed' if the round has opened, or the plan is unknown.
CREATE FUNCTION issuer.issue(of_plan bytea, of_round integer, who bytea, message bytea)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before bytea;
    newest integer;
BEGIN
    -- Held until the end, so that a round does not open while a token of it is recorded.
    SELECT round INTO newest FROM issuer.opened WHERE plan = of_plan FOR SHARE;
    IF newest IS NULL OR newest >= of_round THEN
        RETURN 'closed';
    END IF;
    INSERT INTO issuer.issued (plan, round, identity, blinded)
        VALUES (of_plan, of_round, who, message) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN 'issued';
    END IF;
    SELECT blinded INTO before FROM issuer.issued
        WHERE plan = of_plan AND round = of_round AND identity = who;
    RETURN CASE WHEN before = message THEN 'issued' ELSE 'other' END;
END $$;

-- Remembers that a round has opened, and forgets who has tokens of it and of earlier ones.
CREATE FUNCTION issuer.close(of_plan bytea, of_round integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO issuer.opened (plan, round) VALUES (of_plan, of_round)
        ON CONFLICT (plan) DO UPDATE SET round = greatest(issuer.opened.round, excluded.round);
    DELETE FROM issuer.issued WHERE plan = of_plan
        AND round <= (SELECT round FROM issuer.opened WHERE plan = of_plan);
END $$;
