--
-- PostgreSQL database dump
--


-- Dumped from database version 15.20 (Debian 15.20-0+deb12u1)
-- Dumped by pg_dump version 15.20 (Debian 15.20-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: croupier; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA croupier;


--
-- Name: accept(bytea, bytea, integer, integer); Type: FUNCTION; Schema: croupier; Owner: -
--

CREATE FUNCTION croupier.accept(wanted bytea, sent bytea, width integer, tagged integer) RETURNS text
    LANGUAGE plpgsql
    AS $_$
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
END $_$;


--
-- Name: create_envelopes(bytea); Type: FUNCTION; Schema: croupier; Owner: -
--

CREATE FUNCTION croupier.create_envelopes(wanted bytea) RETURNS void
    LANGUAGE plpgsql
    AS $$
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


--
-- Name: stored(bytea, text, bytea, integer); Type: FUNCTION; Schema: croupier; Owner: -
--

CREATE FUNCTION croupier.stored(wanted bytea, place text, given bytea, width integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
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
END $_$;


--
-- Name: wait_for_reports(); Type: FUNCTION; Schema: croupier; Owner: -
--

CREATE FUNCTION croupier.wait_for_reports() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    name text := 'env_' || encode(OLD.batch, 'hex');
BEGIN
    -- A batch whose table is lost can still be closed.
    IF to_regclass('croupier.' || name) IS NOT NULL THEN
        EXECUTE format('LOCK TABLE croupier.%I IN SHARE MODE', name);
    END IF;
    RETURN NEW;
END $$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: batches; Type: TABLE; Schema: croupier; Owner: -
--

CREATE TABLE croupier.batches (
    batch bytea NOT NULL,
    plan bytea NOT NULL,
    round integer NOT NULL,
    state text NOT NULL,
    opened timestamp with time zone NOT NULL,
    keys text NOT NULL,
    query text,
    CONSTRAINT batches_batch_check CHECK ((length(batch) = 16)),
    CONSTRAINT batches_plan_check CHECK ((length(plan) = 32)),
    CONSTRAINT batches_round_check CHECK ((round >= 0)),
    CONSTRAINT batches_state_check CHECK ((state = ANY (ARRAY['open'::text, 'sealed'::text, 'released'::text, 'shredded'::text, 'disposed'::text])))
);


--
-- Name: env_a1f1f85ee25e203bd6098f69ba57569f; Type: TABLE; Schema: croupier; Owner: -
--

CREATE TABLE croupier.env_a1f1f85ee25e203bd6098f69ba57569f (
    tag bytea,
    envelope bytea NOT NULL
);
ALTER TABLE ONLY croupier.env_a1f1f85ee25e203bd6098f69ba57569f ALTER COLUMN tag SET STATISTICS 0;
ALTER TABLE ONLY croupier.env_a1f1f85ee25e203bd6098f69ba57569f ALTER COLUMN envelope SET STATISTICS 0;
ALTER TABLE ONLY croupier.env_a1f1f85ee25e203bd6098f69ba57569f ALTER COLUMN envelope SET STORAGE EXTERNAL;


--
-- Name: migrations; Type: TABLE; Schema: croupier; Owner: -
--

CREATE TABLE croupier.migrations (
    name text NOT NULL
);


--
-- Name: receipts; Type: TABLE; Schema: croupier; Owner: -
--

CREATE TABLE croupier.receipts (
    plan bytea NOT NULL,
    number integer NOT NULL,
    document text NOT NULL,
    CONSTRAINT receipts_number_check CHECK ((number >= 0)),
    CONSTRAINT receipts_plan_check CHECK ((length(plan) = 32))
);


--
-- Data for Name: batches; Type: TABLE DATA; Schema: croupier; Owner: -
--

INSERT INTO croupier.batches VALUES
	('\x9fe43625d78c1e61eb8fd8090fbffca8', '\x8a19807de155520267e7d09995f62aa3a9a35e4fa78185c6a6bfcc0031b8096c', 0, 'shredded', '2026-11-15 23:27:42+00', '{"batch":"9fe43625d78c1e61eb8fd8090fbffca8","key":"01890d3aa428ec24e4547e64c4f970d92d0abeff3170e306ceb4f8c418aab443","kind":"shuffler","plan":"8a19807de155520267e7d09995f62aa3a9a35e4fa78185c6a6bfcc0031b8096c","round":0,"signature":"2a40a83db44a61d6b7516e19edd95dc32738e903dc2ead6e6e80317b9ee6bd79a3d1ff15f23b6a4e95af3b36207a5792fcd73bda5cf8316eadb858125497060d"}', NULL),
	('\xa1f1f85ee25e203bd6098f69ba57569f', '\x8a19807de155520267e7d09995f62aa3a9a35e4fa78185c6a6bfcc0031b8096c', 1, 'open', '2026-11-15 23:28:14+00', '{"batch":"a1f1f85ee25e203bd6098f69ba57569f","key":"ff465b92c921160f786346db1699ab7a7bbd0dd3d2a76120750630a424c57c5c","kind":"shuffler","plan":"8a19807de155520267e7d09995f62aa3a9a35e4fa78185c6a6bfcc0031b8096c","round":1,"signature":"de53b34c3881aa53a5bab1c9846d41846b7f9d226981017cd296063143da33fa84c4dbb03343363c35b88869c5e51d9ae72d2682045966bc012a415cad819e0f"}', NULL);


--
-- Data for Name: env_a1f1f85ee25e203bd6098f69ba57569f; Type: TABLE DATA; Schema: croupier; Owner: -
--

INSERT INTO croupier.env_a1f1f85ee25e203bd6098f69ba57569f VALUES
	('\x4754be6f70bcc4047b11ff66cdd5446052c263ffea1349dc8a38c60d02ce8a1a', '\x6d722d65bea0a21b8dfa9f33788a909540b970500128423bcb46b6dd0bbba05d2c18c05c38b58b246d39fd91490d10af020bca281b36514865605fe3e7447e35a940e497ee98392b3f34b75096886bb1672a3fe9252a3784d5c02c3501757d23225cf1961076b7bb2437b53c90b1c224f36f23f77f6cb5ceadfd32aa4bad4d526948815447dd7f77'),
	('\xd27a9edd49aa6f71b09e730f0d50d05d0bf31249f05944a8c5856a42b2e45001', '\x4098cfa6ccc07e51cd1c69a80e85a6c885480416ae4d43e34e34cdf164818c0e331b993a999614de76092bb110c4fcde046c2ccffd426034ec2d9cd6328258918c7ac49130e1a71f66a73c5b2b4987d8d0cda13fab426cad9414548e58268197dd9ac3379231b5caa6d8a6158af05a7be0a029f8bcdb28bbde6ac8882b511d4a03b27cf524140eda'),
	('\x5cae7ec14080baf9bc4805e104a5824f86cd54d793785db1f84fb427972037e0', '\x536f575eef63addc792c562997e90fe683b7794c5b2ccfd039e1ca76382bf3230aaf47b40d01fd01fd8aba52f25ffdd6feee30b5ff3c154758a5c8640a78f49249850cf783ed02dd99687c523d508e8d7bfd7220a062c3684a50ccf2d0cfd6ccf8e48280a1e30202765156a0862c5ca830f9c82ed78c635508dbd99e34419b7d905fde62dfa92bd8'),
	('\x9dbfc246443918a8080fd6222772d1d6e42c5d9a7ddcdd721b8d63eca8a413e2', '\xc203965b543b7c5fe533401a723228c0bacd36a985b9cc8d278306baac8f99602598354c1f6a8e4ffb8b4c2dda1ca06886e8dc4b74c21eb853be1707a30bd54b39c1fd9fcaf357cdade22637fc5728a2b1fa1951a2a8d77f53c7e0c838f968430427f3dd587e883a846bbe67f478f136499a3896b8f0052e8c0ba6c368aef338e4aad405319e6f90'),
	('\x5136ac6c0f4410ad0e6506c9660fd2f699b9305697e2fccd5b46382c0369748d', '\x13af888c4211b77edd2523214af9cd3a015131e5c8b1e3e2734eb2e62d77371c38154cbac353c5128f8e1de5ae899c5d20f617adf5122e37f8461ff2d517a8588f10567e26e7223d06d55d8dae7202a83e8b8126baa0896b53d1f2886fe6bebaac53de436122a68a2a165c1c8e7a00d7eee923bba587c93087403a6f8874aa6834096a6d2cae3d36'),
	('\x2b60fc635e99fce7c1416d78aea876f7171b41a8a4bba8858a75c5673e042236', '\x3a549ae545bf3670e2b749afdc5442e61f35341ff43c96238996a026a653316c98d564d2028988dfa53b4454c658d76e752ca9b4bdafd2d463fdeeb1aa5c2ab5ab213050552ab77b564f03946d3f600761c380aa4fbed85a0b8f90c9a0e12562e40928fffea2061cab640a933d96120832e555d45b28950650e62a0435372ba6871e7c1fbdc6d66d'),
	('\x2c09dedfc2b1a0d7adcb4f7eb2ff511599f95b215f9848fceb62f7466828edcc', '\x9e17ba5c17514895a5d807a279bda3422bca14b6acc8c4d5fc4e27e0ff701743abb7df5c6cdb3ae53a53e3420648bff7eeb70eadea69ec9de33758348d3991d1c1fa307ecc6b16675e4a1b560f2218b318278358c22ea709e88b77e95d2aec66c590cc9950b9b957f6f9f1e60c4cb95cef2ca04d903d6c433b1cf6a519b1365ccd06ea37480a7ffa'),
	('\x8f071370db513efb11df30a0b8765cc1e29c12594583966dfc131be3896cfb93', '\x9cb89e5d6904274bd1f0efb5b74af02d0fdbf6cb02f34c55afb64e71d566eb2c26a41a8f6e5527193c69c9591e06d8653573a2121d8d3e72ff682f5f1b74f30854f544b5c1122a07d4754c53461e5dd5b3072b29192101debecc6430b44ef2054cbcb8b7fcad9504425a90e4c0fef6c463ba5569fd4c1cab3f006d4a6201ce0d072aef5dc1090083'),
	('\x8a8529298b3c995b8cddb59174349b4d24a2e8984fe725132759c5f4c776612a', '\xe6e6d211516a2c38c32b0c8544fc787695ffedd06bea8877e1621b0ef2919a3ce45cc6ab1ef862cdc34644cda2977c2093a3d03533dc428f16cee2e7027b65f3744e3689d41ad635ec549e435c59eaf5fc7c2d673f3dbae323ef6d0ce7a595fe79ad69674f5ffcf21ff017aa9c393ab07ab9454fb834ffeb7b5c3b0659db183dcb039a3e78079840'),
	('\x1be250b037e66b32bf457561f04d9df599da4d170db4a70b0a56ca1529762a61', '\x73d6a36a49f3ba1162cda0d9e0edc12558d5c90055a703ef3fb88bf8192dab235b6501e1b57d6fb8c4224885d8dc503f49e9175ff5a3fc72d76dc82a0d04f335e63dbf257f41e8431c9d10d5159e3a3e49b046513e8c7a07007a1539190d3124dc4d5add446e628b39b7ea2d035a84f5723dd148c6fb641dcbf2fb960b9ac60bdfc85ebaafba2f10'),
	('\xd4b6a4189bb9a09eb1ee470aa5fa066ec46f64b825551ef9be528131c444a0e4', '\xab2367b5a4f7f077ce94ec137a76d71855518ee66997bd530e384c7ac2aa2600a66fccac820905cd0e0574e4270bcdaa58f34754fc15198f16c9599396d8aa91d124f7155cdb96d3e15e6a2258605bfc7f7941661f4f0078b8160e543e10be8b8490b7a9aa85eb60fd2c0645924709cb56850a7496ef1e9a2554e114f3dc61929b739931745b16d3'),
	('\x64fbaa28ed25c4baa8b8c12e7a39e5b730078027d1a166d586d80115471db3c9', '\xdb1a3e7b8926fc4c9c1604cd376091fc9c8fb318517f8364174ca24cb6447e0a0d07c321553b0bdcbd677cb57c65d07d70bdb7142faf048e0c63bd7f2631c5e6086ef238ddb0fdbcfeb1be34f28de770a0713398bda1799a78ac4fa9d843c7f0f18c640202f19b62ccbf032729a7f5ee1945201e87750b1a1313607df97457dd7ab09ffa48894bbd'),
	('\x81a2763b183565e746f70a0963357ce2c3fb038e9ccc5c0bf1df034f6832a940', '\x37cff54634847757bbef2db0a7529ec32797632ed6f030a368fcd4a2c39f9b4b73d52b94db54f451f17c21fea94aeac428cc88a6d9228ad209f6b4bd5e8af9f34f17b5466c0d5ee0c8d8138ebeab6c79e10677d76e74ce516e69dbe4299da976b33167f188cf85ad64d76377e4c49050d3c280d8d8b273b42dcf4adec3e7fc8241ad46808bf1b10f'),
	('\x52e319ce89a96d0343721f90d2a69b38eb125408d635d59accd9eb9dbaab67d2', '\xccf81c971416f8034971dc24ba6f9dbd540870152b1411f26562cec515f2050327163321091cc53f5461d6bcceda164822efaf8523cd15b7026e8fac9ce11d806a91ee27b0b7b6969ab579a14c989fc3fefea430e54b82e7f0723edfe1d3bfc2c64decfef9620e2e19ac1e00063560bde749a9a375fedfb1a4ca4e3080e5d54f39ea431ca4d9672f'),
	('\x76ef3b5eadb300a2bc6154f2847381e8ae4380f3c0b79c893bab9611b8168c90', '\x400585766a4480a08854d3b333a261f3f191246a5e8a1940730b909571f0197843f468857e1f67e08674637cf51269914c6c2f56ead800b488bf7d7eb4c813128a8f7a309b3683d0c26189e90dbf5ac78c32b97c0f0ec41960a3000951d141501a6e08c95b7e2bbbc5060ea7b150cd0235594943905f088662d0ad7dab2e644efa62850c5b023f25'),
	('\x668892383a3c3d2509eae3e958642e30e3afe40339d4b8a9e020446be6b2746f', '\x82c6a9151d6e8d08869fd105d06550da128d3c36b011db8b6bfc0a2938768f4e85798c29db1f4e5475c1ba0e23fe5a503c9bc8cd4da7976876eff9b416ea9c03300ba075ddf0ad3072c7398a0ae979e7ef2703aecf96a844c642460dffc23ec292f830b9d98f293aef1714f9e53f30825207404ab8da24944541de46f8cbee719de9a16f317558c5'),
	('\x16434b4beb6022a303106efc3fc2637924c0a6c73ed0a689121c75b6820005e1', '\x90f35a060ebd42361c589e26af81759bb41ea574bad2e77fa454dccabc09a23006fcab9ca82f7518f9cf77c45717a778db27fdfe035363ca1c5386e696dde5e00447b4cd8cc24c8bfb49ddee75c02e4d064cc749e79803900d51b49a7a4325007d4ddb8c020fb28279f12b9088c2541c3f7bfe99818b8cd709ebc29852dc48297b07744120783d65'),
	('\xb0c3c10be25e805dbe2faebb926497a8a924cb971a15265f7066391a969b33b4', '\x21d20a854ed7dd1267dc8fbab76e45098e02ff9b46b0a834b56d4922dade0c284f44dbc9f46a6c0fc6c81bb1e6c3ab29284501c9d02470bce6d6b7d68dfa2c6839603120104e09a394466136e013adfa4fb0042ee0c23233a06585dd7844120c13fa27fc75670ad73607abcc15fe7cc40ddae675d3d01dde001c169a33f92e24f90d109d54f5a676'),
	('\xa1faf710f54fb013cace7f8af9c58acff1073507f4c02d8416d628c16de99141', '\x5982f87f03769e09dea83803de23e2e672c4088081fbe9eaf641488b7f9ce649ad481ab51cecf75daeedcdbdd502ee64791971bf967f83904f97e173267ea30ba52be71881b96b4bddf3700546348c998a7b207c670dbd601a150991eac6bf45bcfc9649650acddcdbda1092e10abd5f0d18d36b2ff77063325a872f4b4173c5d6a0b80209e573fd'),
	('\x71360f8033ecb42b22871c6a8c09c57ca98936b83802fb6e2b6aa5fb05b908cc', '\x8bd8a9028b999865be43802303e0816e58e84275ac76e91cba445d82314d3e16a6cdd9d21ed5d33547015050b6af40eeaae53733bb093da5d1dc5e5abc2c1396e60d4d3f570f10ddfb6ccef2f3e99fd6f0bf68d9b1c4960aa9799acb6611c5912dd29a7a5512cb2b9b94a6e698dd73dc0594f0e5d520ece7ca98eebfe9f7371b7c48369d3b7db1b3');


--
-- Data for Name: migrations; Type: TABLE DATA; Schema: croupier; Owner: -
--

INSERT INTO croupier.migrations VALUES
	('0001_batches.sql');


--
-- Data for Name: receipts; Type: TABLE DATA; Schema: croupier; Owner: -
--

INSERT INTO croupier.receipts VALUES
	('\x8a19807de155520267e7d09995f62aa3a9a35e4fa78185c6a6bfcc0031b8096c', 0, '{"batch":"9fe43625d78c1e61eb8fd8090fbffca8","counts":{"cannot_open":0,"disposed":0,"duplicate":0,"received":102,"released":101,"second_report":1,"unknown_owner":0,"wrong_length":0,"wrong_owner":0},"event":"released","file":{"name":"2026-11-15-round-0.parquet","sha256":"ddde3dadbb9a6f6f9c9cf68adccb13447db159bbaa8a9e8bad4dc0cf94a1fa9c","size":9403},"number":0,"plan":"8a19807de155520267e7d09995f62aa3a9a35e4fa78185c6a6bfcc0031b8096c","previous":"0000000000000000000000000000000000000000000000000000000000000000","query":"","round":0,"schema_version":1,"signature":"ead370ee7e2db379dcaa5e60da2e63efda6c2059613643821b52e17bbd8f6e0e9712d291eb208a7a21945910ad795787eec8398233a0c6bbf27c7b976cad2a04"}');


--
-- Name: batches batches_pkey; Type: CONSTRAINT; Schema: croupier; Owner: -
--

ALTER TABLE ONLY croupier.batches
    ADD CONSTRAINT batches_pkey PRIMARY KEY (batch);


--
-- Name: batches batches_plan_round_key; Type: CONSTRAINT; Schema: croupier; Owner: -
--

ALTER TABLE ONLY croupier.batches
    ADD CONSTRAINT batches_plan_round_key UNIQUE (plan, round);


--
-- Name: migrations migrations_pkey; Type: CONSTRAINT; Schema: croupier; Owner: -
--

ALTER TABLE ONLY croupier.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (name);


--
-- Name: receipts receipts_pkey; Type: CONSTRAINT; Schema: croupier; Owner: -
--

ALTER TABLE ONLY croupier.receipts
    ADD CONSTRAINT receipts_pkey PRIMARY KEY (plan, number);


--
-- Name: env_a1f1f85ee25e203bd6098f69ba57569f_tag_idx; Type: INDEX; Schema: croupier; Owner: -
--

CREATE UNIQUE INDEX env_a1f1f85ee25e203bd6098f69ba57569f_tag_idx ON croupier.env_a1f1f85ee25e203bd6098f69ba57569f USING btree (tag) WHERE (tag IS NOT NULL);


--
-- Name: batches closing; Type: TRIGGER; Schema: croupier; Owner: -
--

CREATE TRIGGER closing BEFORE UPDATE OF state ON croupier.batches FOR EACH ROW WHEN (((old.state = 'open'::text) AND (new.state <> 'open'::text))) EXECUTE FUNCTION croupier.wait_for_reports();


--
-- PostgreSQL database dump complete
--


