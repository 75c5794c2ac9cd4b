-- When release last ran for a plan, so that the service notices when it no longer does. The time is
-- that of a job of the operator, and says nothing about anybody's report.
CREATE TABLE croupier.release_runs (
    plan bytea PRIMARY KEY CHECK (length(plan) = 32),
    ran timestamptz NOT NULL
);
