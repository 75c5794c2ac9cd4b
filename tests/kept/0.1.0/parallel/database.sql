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
-- Name: env_6ace0414aecdb615e3996dbe80fedaea; Type: TABLE; Schema: croupier; Owner: -
--

CREATE TABLE croupier.env_6ace0414aecdb615e3996dbe80fedaea (
    tag bytea,
    envelope bytea NOT NULL
);
ALTER TABLE ONLY croupier.env_6ace0414aecdb615e3996dbe80fedaea ALTER COLUMN tag SET STATISTICS 0;
ALTER TABLE ONLY croupier.env_6ace0414aecdb615e3996dbe80fedaea ALTER COLUMN envelope SET STATISTICS 0;
ALTER TABLE ONLY croupier.env_6ace0414aecdb615e3996dbe80fedaea ALTER COLUMN envelope SET STORAGE EXTERNAL;


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
	('\xfef035bc079ae8b6b717049286af32f5', '\x06945de956c6933fe6b29a3114053e3de4c78bfd4a8bcec0f33030a2a9367e18', 0, 'shredded', '2026-11-15 23:34:35+00', '{"batch":"fef035bc079ae8b6b717049286af32f5","key":"e8ed91a8ada10ec2c9921ac4b45906af23cabf734492f097ad5b8973327fdc34","kind":"shuffler","plan":"06945de956c6933fe6b29a3114053e3de4c78bfd4a8bcec0f33030a2a9367e18","round":0,"signature":"630e8f037b8f3df8dbd9696d0b08a094e0ff93f4951a513b8c12ea0ac015b2bdac459c564350fc36ca6055b8a1307e7474e111d7ca81f00408903fa4844ef20a"}', NULL),
	('\x6ace0414aecdb615e3996dbe80fedaea', '\x06945de956c6933fe6b29a3114053e3de4c78bfd4a8bcec0f33030a2a9367e18', 1, 'open', '2026-11-15 23:35:10+00', '{"batch":"6ace0414aecdb615e3996dbe80fedaea","key":"01ab76dbc16a6d0a58c5391e4f033c8a3cfee1bf872f90a1594f0b0db0d0471d","kind":"shuffler","plan":"06945de956c6933fe6b29a3114053e3de4c78bfd4a8bcec0f33030a2a9367e18","round":1,"signature":"ff8ddb5e8f7a36be24e6a142ea56605b54fd4a9691fef0c867ca78761b08a083571b5bbeb7442fd2c72dc107020d1cb17d535d8c9c23a624170e46e3747f3f08"}', NULL);


--
-- Data for Name: env_6ace0414aecdb615e3996dbe80fedaea; Type: TABLE DATA; Schema: croupier; Owner: -
--

INSERT INTO croupier.env_6ace0414aecdb615e3996dbe80fedaea VALUES
	('\x655ff8e7081d74cffa6a1a675c68f964b942f225cfcae09cf695737b7b52d8c5', '\xbeacc294bdd8c406d0d75a1b50b75b9620a3690a0e004bc9b88e534c604200766c1d952f2f748074f8b4405d59d0c2f3308702319483b4b26412e2f4d812cb4a9023e00a30a02e55fbc4032d7192243337313250892b7712f7b29d52622ed806da62069fa3d0147110e0769dd91e9cf15690e18d111d770b85ce21418b8b7606'),
	('\xb1f67f93d034f8caf0d183efe39de672ecde588dfa4577dda2e13c0d19e36dbc', '\xda681c25d76191d98ce860c9c3f6d6f1bf87222105bb0bfdffc4709226238c254315a1e3d187ef57795b540014fe5a3d4c000bbdfb0f36f751852b2f914c34c25f7a1aebda55b83efa089b5a61dfa63b11f7c346c32be7162dd8b90ffbf3f889812c60ffd9db59a2bbeff79fb6355ed6a96580f67c79b16e487c50decbe5a1d3'),
	('\xe253e6642e792510a410aaa456e6271f88a52b327e9b997960cceef293bec29e', '\x31ee4abaa7bd56434fc9dcccaf84e71f1c9b290f90f2388d1ffd3b190203a159bf6b8b3b083f0e242a4280b332b0e949a5f8de973cea84ea46209e69096ee8c63603d1badb9278a2712bd41f59dfcd7b824d4350d0afd19ddc3420b8b78da26a0e66bdcd81d53d94fced4aed08c6f7754f1b117a4cd5bbb1111fcdf38991a7cc'),
	('\x22abd33ae2727ec92e78083781bb5fcdec93f66873df134a0a76d78731abb3c4', '\x6b9d368459595a7a20f9a3e30a92339dd67f134361e7a2d2a0c9a58f7887f011bee9de10587dc1507d151b179ba0e946636f734c8416e56c1e984fe305477fe8c881c3d36d899ce8d4dbc45190695c1481c886cede505fbf2b7e8db344fc2893db720f6982cd7480ea9837925385673cbe639d1092a616de5481d6740c4ea7ea'),
	('\x8cf3d9ca91cfa5bf3c86846055bba86ceb23f838b0f6636d4db7e2f4576cf1e3', '\x03da6db16ba6d7c7469df3752b2613342e7f12aa8101231cd8914acbdca5b617f5558c87808672505721ec523449f49eb47715a32bdf35bdc2ab6705966f86e44e3ce3e74842477a5d6042939e1c1ea3c187bc33ccdb633e4effda904ec09cb682aec162dc9a7adfc200f7c616a3397c89a118da5d192ab1d9d8fe1357ce0805'),
	('\x8120c3284f505384420082758105a28a5e918825c528860f4104916af89bee4f', '\xfe5d0273e8bd30a1272884e80aac35e43fa198f1cd99eb2cb545757b86f0c400c61ba7bf5b19fbf914643f91aed6f5fb37411c4e9d017a31d3ca2b3b0992440f14077439a0c32b200ab5ab7a39982311352a13751a78a719c3651c866cc980e869c5634c68503c95f4dfe2ebc688baa58c66d6fd02bfe6972ec4d3756ef621c3'),
	('\x3a87429edc895fc5152e9869a0e192146f58a75a9b23155332255e5726298628', '\xed675e35631fa25ccb715ada5e3abb6c7416d08e60433c06f08eea9fc630dc64d324056290e72627957e6086b10abff2af987f5dadee60e5245427aa5021253d012aa17372f0b11ad8d29a3c046b263238eac219993e7a8cac3df81fa81f26238eb3a549f05340d7e6cea6daf471ccf229a7d85720f84309bf6eb505003f3ffc'),
	('\x079c5ed08aea709e0dd7e52af1867c045ef6b4b1cf2f768ffcf2add238465034', '\xdd10e1dcc0384f5575f4c589c022996515841cae94e41547e3ef4ba7aa7158116891884e1c726e6b6fc9690f9a5ab694fbc9dd84d8fbe285f38806cdb76136ebb58370f810b86fb34dd6b9487f67b71f10b3b93c9af9fbf28b6fa994bc90aa293479ded03a6d2ee54b4401eaa80d63a6613702360a56320c4db53015481ce95f'),
	('\xff0b5964b9a78dd91c8d2bd570acf33d84aa73a301b92ab118ea58b282ddf52a', '\xd9b57bb212897f54b321fb0bc2e231cac0b3f7e46d964c81e5fc43cef444ce697031a64e3b57c0daca0dd20251aacd653cf82315782baeb5f796bfd44c57fec25f29ec4b616b2cfeeac9f2f5ed961b6f7d051dfa96bdf472be80db2558b0ecd7ee84d65afdd1133119617c1cadfa7db09c2dd8c7a2cdb5d7415a605071b5d47e'),
	('\x191ee6da6711bfb6b7bae06b0b4ed24be1bd53a84f565c5c0a8cf7e9c64cfa88', '\x95581f13570d9bc275cdb556b81735409c430bf71b7cf8f0372ab27578dbf522bba7e77d7ebcb55d3e8ac2f44ee595b9e94061ba722f315289e4057516772e78d3bd42519748703dde9b38060fb066fc69f9ad8cb766cdced02293aa964a93f46790767b2a71e850245761948722c6891b685a17fb39896b57f1e0d6e337b37e'),
	('\x2d4191e29df1c7bd772da9fe55f0cdaceb6e32b535f44510bd3c4618cf6fa4a1', '\x2e3988d19eb1794c7d6d6eca0968f7d65146456e745e36ebe4e52c775e17980a1a3525bed52c636dea09007b1232a448c46f8884ee95910322471ed7ce800d701f8d83d5a2e25409480f82592b1a6ec14da2cf01002fa5b9662a921c8298c3421cc422448b0f6c347f626f9ed98fd8c4f6fd2950b326f0da0182d20623e5caa7'),
	('\x46f58013808950a5ad596aaddea18d5f167f3e743dacc1134772a0b45a407785', '\xe8d8dc15227045fac7b1478080d04ac031c6c91c12ed41ef5485c2e8748d611d4955017fe6cd27b5e2a329704d0fb6d4b1a09db8dc17613431347ec55b52e39c746d874daa75ac8c834f8bd52e1851e85acd92d2063a1ea52990b34e641b52de672e26002a73dfcd8b96fad04b3d86ef6794a9bd0db7e4cf063058e5411116bb'),
	('\x788c90d3abd49687d8e2ec83cdd8e8c5b08363c3d1548eaa47af47e9a1b13f7b', '\xc5674510a4fdc3ed47026c1eb9ba6dcdb4f730706af48b02f0b529c41668d81afaf6054506b66785823964fcda7a7ac7ada35a422666aa2ae768f2ec6709c95fe3b68669193bb9f82556267943741d7e912e1484493c97ba3ef20b338e746ad5d361144e4082829138744c418c6db8212e6c0a0c631a75e69508d3048d787e8d'),
	('\xedb2cb1fba69390193714970ae3c7f0eb21f27e6f6fbf3b647dfefb253a9207b', '\x0446adbbf76689287f2857d5b3a358a26c691db4e4eab29794b793829c46df6d2f0d0b35fe5072c25cf34042bafaa076a4b1af86f694fb144b3d97c62ebcab1342e72cfe23d9fc475e11e0f98a19a7b50dc76c88f3487f849dca6fbf136b6bf0f9090413f2d226e9278889b9d2f142c04b24850a7da56f9734addf64d95104b7'),
	('\x6a26d3ea43159f90c3283ee2f25408341e2d4df75ca61ab311ec3d3fbdd65458', '\xfeb59e663d7c34056cdefb4cbb20eca0d6ee91ad03ed989c41603ea0beafed29d43b23f8738defec1c6703619e9da377d965bfb5069a06c4ebd678adec1d7252adb07daf49e0a43be4d90e884984e668f067a5d79cfb5e9812c3cd9892000f0c225fa2fe071c8104fa78961cdb87cdb4fce23ca831684bc710e8725539b38393'),
	('\x5f6590acb7d2d5f177392359e2b87f22eb16ef231b75fc23d41832dd88ec1e51', '\x3b53ac6a7e3adb02ca55b6b5b4b9a5a879eecc910a90944a6695262df98bea4a51132a1cca6663b1cc687ee0519ce49679fa1cc95c1fecbe8c55d17d8bcc795158d3d80ef56fff3c3a81968fbb8b6d045cf81059ce7914578b0367078e9e0ce9fbeba9fd8492594bd6b1297ca0c1ef0b948ce9cbe98484f44dd07e6dc2fbaea2'),
	('\x691a6757c3aece38ae40f196b6e392a0b54e30c48ce0812b378820744d5e8539', '\x9107acb3ad5aa52dbe6360039e6077fad7d9cff7f1a3e273bd33c42b2c3ad3011d56ed52622eb9b7affe6dc295f44df96852a839e988d0e7ed1597074909984bd971071e5bf598900e380d39b84587e708fc75313a1dfe59b5bbbe34948457b40fd0f8a7cab983d6810ede191c584f617be192f5f72197b7c67488cd2d794052'),
	('\x81e52811570b712e895235ad14a0436c518a63e267bc320486dc7465a037dffd', '\x6d0feefdc260329da3b4be6af894a7fcd704498e6fbf1652dadade04b1387125963c539e6695c7186de6c10735f61769ed1be9674ec6b5e37462bc814d2b2cba66cfbe80b816f2f6532b25b8e000b342f199258d865b9f2dc4feca7492a8cc19685babea4dc96088688e3a0ab42a5167518e935b47454fa6c067abfc85e6719b'),
	('\x33779a3ed1fa5e7e498d629a52fb42434c98234b36693f1e0324175828740120', '\x26b1e6261533ee3b47408f9da8dc775bfa0bc2be21aab53ea2b3318a46e61549896876d493520933ac2fbe4bff48654ca94f5fe5eb1147991d586983abb7acc3470fb15fe895e48add358c952c0e101e5d8b9b49454e44ed62e1e8939e24bbe78bdc822715bf638e7c99d59519394cad891fae0acb938c5fd9279fd1aa3d5c89'),
	('\x22343016879eadb3d28f5048261771a4ac882613ad614a7b27cd9d7d5dee1037', '\x7fcf45521694332ff729ce37330b5f28a5764b44db126294c78c4f4579d8757744fa61640db7647d7c80df0ec0a4023149f31b527a2a7cdac1ea5b47baac95036d2f90be53b8006a13b1d1c1eb4c4db4fdbfb3effe6865e25d9648ce16f55ad17432f26c18f2c9eecee8ed3c2ecb6f23f29f14441fb8e69c742be81172e42bc7'),
	('\x7668498aa853eb747013e332126e1f9a4e7b7cf31535799202ddb9963fb573b9', '\x7ace7853f23b47c2f72fcf9061c08f9ead6bf145af70f675e51a8b79c6bcd31ca806c84bc9882eaf5c466882f9bf0481f160ece6d2c8ed0ddaa9c66e24295ac7179625bb160f20aa640be0c3c9c844cbbc532e4dc9ac1208ac981925337f0d7bd131e30dc0c1658304088898628a26e23b82f46e0dab1282f43d4bb229dc9a89'),
	('\x7ff05e128bb14259c6724253df96c5c06c3f69667f3abc6e9547842e6f421034', '\x347c8bf383963620ce099aba1e6be83bdc9b8cc447bba436f8c55e0a95c1cc356824c14c95a6fad711aa6af95864c192c63fd91faae805b83278901da793894c62a169e58364b2a2d4cabc304809ffdf151b99740f5059b0ba807ffa0d6ac64d3952cc940d7b7e84bca3be34095e2c42cc54ae587faf94a4fb7dbcea6aedcb20'),
	('\x8bde2d76e7b0eae76005d03d7e034adf944cc3d071818e6fa910cb7b429ae5dc', '\xfad832541fd6fe8a86744865048029c078f7a09f3f5c28055034b9a2dcc5697cef3d230b6f0d2306a7f6706c08fbe34507d59ceae964b31535461b0cc6f0900db2304635aca886610c868552bf75a864d61a241215462ed52379a41a60fba7b50d0fe2afc3a5dda8f3d2878e26c761af58a87898e8a554d449f1472267d594c3'),
	('\x9e9964c1a15360608a6c276d064a44e09148182c6b34edd005eda8e8ba90dfd2', '\x57675dbea86ea61e20c1a38ea1a1e2e8becf9b2900b58e27a91bddcc65e2000cbf9a36c02be9c3249d778e508711c43ada24e0342afe9f748a4326ff2aa0f0ccab7d38546df61a731f71c3bd6e3e99fa1f5d214831d75736f09b93e90efdd81afc86a4fbf77f917947630019dc4d8f7be8476702106fc8607e837f4615ce9b13'),
	('\xd8bf5cb9f96636f99f7608fe6fb1f3497b9d4f5883bd982564692a350c773da7', '\xc28b6e028569454981f2680c3e70fc13379b810db30030c310cf8b7476e493001b5ce3e0ab4c49cec9799a91d58e8a6b9de87e7b1f4920b8debf8c726acbd3f18bf3876396f57d1ed23bd00350205b89060bb3dbd0234cd569836698066c2a16bc0e96d356936c8d164da111738206a6409f23904a6292eb59bd970abab59b8f'),
	('\x3117aa4bcbd806e23fa35c2e789ee2e43eff4540e2a495f2fadd2fa7a0b21132', '\xda3351c6bbdfb0fd6d4fef9db8124594abb19262cf038cd6580f5b2c7921b454b33785e67f6792972ba1ee481fef81ab3373ef55dff24a26b974bbcffedf8b99016d8537eaa39cd925b1cfc85d284f8aa789b8b7039444154b2816993216dd3d436017336890ffe4d45c8eb324eac12db360b8008b75bec42bee9b561c77f47c'),
	('\x4f71165ef32a6cce12d49c15f77dee5caa660d5bc7e961004080531cfebbb9fe', '\x87a4dd58ca6a7524c4a3aa40e53a3ebeb5b038327c044f800f08461425b7092cc5bf7cd449e93572fb10283ab7f6b13faa20c2a9917e2dc3e75a9c7caa47998115659e7e129a1a6e89e26155b6b63a9e716cedf69e76410e0f64ccef6ae8460ecd17361c9f28d1a099e12a9f16c52b20c2d3577c5b15060f4160c25cd7c4ba0f'),
	('\x54b33531800e27567ce812ca95e37808cf02cdc6c4d923dc44f474f31da2ab94', '\xd04c5e03c573aa9f33d756103a654aa5d82d23e6f24308f89d8e93a1df7ebc0e44c4300ba2e0b343fb25a860401853980ffb2600fd8605c52c8d98910a84456334d1e39cc102083c905ab061fb5b4ae271ba7b7c0c634543e0ba32741b8b1d6ded6c27286539e89694a8b51f31876c075290926ea51bd30eeb9c7a764d5c6d7b'),
	('\x33805a9762e435170d6fd9a9cec3acfe27240971d2b6c893b79b5d60e7821d56', '\x5fedc5e22b8b89e619e501b0e1b03779adeaad9650a9a6fcdb5e513961bec4562d15c7fe8d4ae8ea59214d7c78353b55fcb690c4e488a1838bcaffc0268d042f7d67d45716546901dec0276286c5ce99ee4436c19afdea12c40892425a2177127f33f2081c320295cfa4086e4ae8116a146ad4f0d9cdb780a5da33a6eb9acb14'),
	('\x0f4766e93778278bfa970c77e99a0881c0ffe40dc6c04efe4343d0e0170e3ba1', '\x1da04c090877d73193de01fdf9ef93f2ccc7ec7a077b623438b8b6e38232e5660ec99c4ecc08aa3fafa6e44abad06c26e8fc48fe5b6cf103efa81c5361fa477c6aa3bbfa10239cd39a8b6f43a9ad1530faf82c28ae4f6ed05b3a267133de5ed54b1b80303b491f556a44a68861ebfa440ed251ab44ae19db129e0a97b9273dbb'),
	('\x8fb9e33d4ba3d2849b18146dfb5b43e181da23a8863f47eaf780ae73c8d2764f', '\x26477de121cec6e97c0a7b51c228e6d0ec43e1d76ccb800c1e4afcd4358ccb6075f844081393c5a22661433533911af7eb326d9c7c1bff030e2426334b00f9ba092c13eec331abb69ac7f170710ba40c8ffd8ea83af79b73ea4148ca58d00f7a3ed833cde9d88e7522eb7c4ab11aa5463ced2a1e4a1f96f12da1a33884d94b31'),
	('\x7b137092bfbd1d50d2112be3237beda95d6a732ebc1e10259d0cf498923e97d5', '\x10239ea3e7e7a79f0f21756bc958634f9e8ba25995732b4731831bb299c0d46377bb6d69e03b13ea6d5a85bdce9683a1d3256684cf249fe3ba0437b6026cbbef6923f5e7061716e06d8aae9a0c65c342801637990fa5fdaa9b24748894787bec650c990c445459b13b4448783c6de387db029c2e8fd7aaa351e7c4919af51401'),
	('\x524f33e6e315f64bced872b856d9ad0ef681a0b8cf4410287cf3011466f8a811', '\x2b8a6d17fd6a8c66eac4e06dc154bbd0df6abdd3e774086852a19220fafa8255927144ba76e4161f310c7f562f46943d23910cea5be14f9f577bc482f4aa409ab36a9cc876a23de5db9d1f1eeea980932285d1f3e76c86ddbf7c69f9d5cb063546249e041a4707175eafa5196d8ef053ee8becb6abd43910ff2ca6697da50851'),
	('\x13c9c7a846a91a3dc6b7105f46772c7fe37ae019d12ca298da342c3657495eaa', '\x6003e3c875106e2ee68241c076e7785c98eb360978ad57c19f22d20f709e5c6870d651d9cc9dec903b80f2a21eb6d120a96904b458be6579a1cae5163a3ca97654577f2d3a8f05dc1b15c53b3c32ef7c5728064bd91dbf94b3689f8797b7b1d1acd91b3e7244c13c9f5d466d9a00a2d63d2409b48b31da4653bb0d22bbfe5c7e'),
	('\x41e3e992b7f7f7c4bcf212fc38f5acf0ad360ce7fe2e1deba5c1e068eb02d283', '\x09adb722fba5420f8976ceaa965346e2cd12462e6ca47dad6534446967e5e526a3b7519678031aa87acdd629b3cd2d444f4d214fb5b8dad206e65be6ee999f0560cfc65a4f1bd006dcb7465957c8b4904f6ef1966d3e1cf21883eac1d88df1e8c2efc611df94c2bc37e5a3055a5abf2ba5e37bac8a00d7ae04f173a32511ab79'),
	('\xef8981ad341c7d8a423583d395643e455a3185a1a76a81c9e38c85642f77276d', '\x86c94adbdeb8c721df86adfcf02c816e5b0f96a35bac5011618d33f2871fb95672dc14dc11891a37d615f58bb5f43b400e42443ef80085ec7ce6f82f807e8b75ac7879f7ea5c45840d88ef82fd6c3e3d157855c93fed9c5ae9fc407854b3b16e053c2e3c4b63b3643da3084e9d1d51ddb48cd02efa5f4b29f367eca419d27bdb'),
	('\x5b3e9224e0067be5c1e995a9da012b451ebf58a5a799401197953455fb04c8c7', '\xc2380ccf075e0b415963175b49d750fd4859c07612f7c44a31f67086d402b4655e34f401bc91110bb86f600b3c680d73c63810b5d6149ebfcb0311b3d1a2ce5fcea4d5a8331d334479ae9e9c1cfa4c8aa5a49b663092fa4d645824ef91732803a70e6936e6c0b901eb0e0d27b1b890a9fc35c5bec5186f13772036fdd8edb993'),
	('\x4503fc6b7163a96438c04be15aa01ca3adc39f7b3609bba83da2e43e3a29e9c5', '\x712c472d7abf2320a307c7ab6887f2f6f907603a54ca2515a2b73a8f0715f922485397f18946f9c451053abf88e6668853f81d596731126b7a6bd5f64b92096d026c20167d92a7de2d412ba288b4d370e905fd00ef2e3222236b0f971309bdfbf518ff6269b1a908363095b92843cf3b74462bd3abd3b76676ec04c75b79cec7'),
	('\x1c4280fd6adb95c5d99a100c14070d9096ad4777e47bc72833efc99e826ccbf4', '\xdd93c5335fbd56c814990d7ec52c54a60eed30b83f37c64e3efd8f50e214d75cd0e3e385291c32d46093e71f0465abf72a10fd9a3841c7f3987865715cfdcdb1f03f04c5f801e93a119124f583f63c344bfa9bf85da810cdf584f8c85601afdd8452f1785d24cd3dfede262201ac7a431ee89061c0b46d5ffc683bb2c6de31a4'),
	('\x189086048c7d41eff2a9703d235601f68df39fa9e07535d8134175bcb44c56ad', '\x521535a077e481f04bc9a4091217444735a23b7d327cc2bfb31a2d24ab6a502e0de190658c8afd21e803b615fbff558958b2e2fcd32974808af06d39ea7d91af30951ea3626438fa2d25026190400879107d894fb0104e70a4af309e161f53afaa1667f8ad22ee2a68bbf030cce94823750dbe12d3dc22b0269c9d251a47bb2d'),
	('\x3cb140b06f10a3e4044e890537221e1e6f354c70cd2d8f679b50a4335cdb9364', '\x67c2cf241a6308141f0b9a6d3374b6c6c456796a640604d6a05b7a564f7e0444f55be5097af93e1d17be300d569d3bda356c94dcb14f0b52e14df80186d2ab66721dd495d3877c6e0ea919a6b3122a86c56c5f0db9708f3c5a27d4eb25c97f01b1b3e6981b4e0819a4aca8c8639749cb771f6b8d1e9a8b93dfb53d5b4403f5b6'),
	('\xff2c98adf14fd20719a7d74480e6e0f79e8f8b440393355ca2637de8160e22ce', '\xad34848ba8c3753a7e59f1c28a43243dd44d04ed93d305665758e96c9b62b10940a08efa36e9785339871f70cb7516f7c19594272f525538f3b54f9aa4b0c93f4eefaf5f6b9cd390f6bf79c1f4a4755824b05e7e501c19c2978fafe71ed4481f4d85cd3c0d21471826506b0f5e2d8935fc9d0cdc212cce2126757d7468748e85'),
	('\x5423a2fb7b612bf63bbaacf45ae40037957efc3e2634202bdb71efb7185e1bdb', '\xca9d36db63fd5cc367d93a33cfa2de6d2dea049791f46697e4481c92027cc72e360efd17a31c2b3f0d1e6d8428d087b189d4eaaa93d1db92a14689292f5db9ee1e86f0430f042825cc0cd6b60ac388a4037680ed8e2ef59f0136324b6bcc4111987c1e305b1762579f650fa867fbf8486056f5a552bd125a73e93ed40fe1b808'),
	('\xfd86e804cefe317fbe8b0c1cc5eec6918171296afb11afda52ab2135b8c26a66', '\x65a8d2f1da3e2c636908bb31b28f26744394adb78e72baf46d2cdcef8ba3f01d643871c5d78c65b3b1dafcbab9704b35bdebcce666dd0c51bbf8cae299609304c58eaa5a0fefbba785e8d9f15b433939ef48ad0d89a6429d8c467664107b21d3ffeea8695e25d106138b94c557713729a5007c99315f05477bd1a8911973d4c5'),
	('\xeb2aff7e4d639d603e71060df52257dd4c2e04fea76fc37b40738d42f0dc207c', '\x7d3b33a20dab3df5857fbdf8f06e6fa0541ff1b5ff16ee6f78d2a8cc6ed5f627fb2952b45f93a3f50173972dcaa68600df790e072695656a1de733bdb38c629e472fd7e7d8e247176f0c20f9a8d5d8e856015abb561b7b90e1071622575501ae4d836ae5ba5afb5243eb093199fc26d0aea05b8fd317fdf3402a5210f7a47fdc'),
	('\xaa221c647c6bbb15ae61fb1854847425cdd458679461f3f0d202ddca76c68ed2', '\x706f4971240e5920df6a053559c35c2568a1a0b9d1a83f92b617cccc4629f40c4d8cabbc01e2479b8b00e5eb3621fef835a690b94e7b7cce1105543632cb9945c286604b45e7d956777be58962ce15fa4d64d5d28d87e9f2e77fd26d112b396d9e6a1ea50f37ced6c194da606679ecfb8f4d4519cf992e566c1e61a3d219e136'),
	('\x9c1e8ca3a3e4c9b81509e8f3de6797b71915e709123bb121a1749b88d590c61c', '\xce65b0e0636965d1645bf26c46eb3896a2e6689c03eb4b918c3bfabaf6b7a94bbad78770cd9c51fbb198f5487ea0cf1243649716615d9b41213998c85162487858c79e4b9a9403c1d0d585c2023a6bd349fdfc8cddc07e93b653e78f1eff85456b9d92ef2840a836e555dc381c3fbefa8ae179d2b8cf805089f9716b97700d3f'),
	('\x3460a5b70cd49e361ea421002243314e01ed27a9e95ccb63ce836dfb1ee40eab', '\xca72a3695fe175147d7b6f5a0c6290bb4257d64ab5323cc9e0811bd50a76a16b3ad59b0e482c14dbccd538d65ba6f23cba42bab0b94fb68d09a8b3736714b62e8b127f24249caf13ad7691982b77952069778d3da7358bd5627de8833933128332dcceabc03b1345133cb27ffed41464cbeb2443eec3b77c1d299af2eae3ee4c'),
	('\x370749811cc0170c5f6e01c0f0421071d2ae103b59ef12b415a7142d381e30f1', '\xb9eaccde9dd00649330f33a389cf94753e57735f44f0310ecfb5053b74ba4e0909eae6392fb498b1d0068a441409a3af1907f4a9ae006238ab7100217402ab35ba7d1b4e55dade764641674214f472eddeef568e995af33bbb0a8b7ec8e685fb4f6503d17409e29fbbe81518dadeb1971c6aa2c171defb6aad397583e5cbca79'),
	('\xadee16b1924844993f8f8ab6abc5b340053306bd2cebc38a207974945564ee79', '\x66f6f8ed061494a019d41cec03d34814b28b458a49a461b33f2dd451c0a6ef0de7f63d0991882a79feb3df2a161115dbb17d66e3a215c2512869a75a5082f0203d7ba7f5f3a1629df291d4ab58d050951d296782d3fdda049c0e68391b901ebc81ede99fa3a2c0129bb77d44275b7b76e04d45cb1495bec7f077d0f5260898fe');


--
-- Data for Name: migrations; Type: TABLE DATA; Schema: croupier; Owner: -
--

INSERT INTO croupier.migrations VALUES
	('0001_batches.sql');


--
-- Data for Name: receipts; Type: TABLE DATA; Schema: croupier; Owner: -
--

INSERT INTO croupier.receipts VALUES
	('\x06945de956c6933fe6b29a3114053e3de4c78bfd4a8bcec0f33030a2a9367e18', 0, '{"batch":"fef035bc079ae8b6b717049286af32f5","counts":{"cannot_open":0,"disposed":0,"duplicate":0,"received":49,"released":49,"second_report":0,"unknown_owner":0,"wrong_length":0,"wrong_owner":0},"event":"released","file":{"name":"2026-11-15-round-0.parquet","sha256":"9f067171cebc86e419a40a2be673f51761caeb894a4cd9e350524c8a239797c4","size":4274},"number":0,"plan":"06945de956c6933fe6b29a3114053e3de4c78bfd4a8bcec0f33030a2a9367e18","previous":"0000000000000000000000000000000000000000000000000000000000000000","query":"","round":0,"schema_version":1,"signature":"bf0772962f2150975e50dc6b4d7b2be14927432c8f6c6a0979053d900722848e95606771f7cf104d77eeb16a46044aaa9757d63af0406f5e5a36eafe28606c0f"}');


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
-- Name: env_6ace0414aecdb615e3996dbe80fedaea_tag_idx; Type: INDEX; Schema: croupier; Owner: -
--

CREATE UNIQUE INDEX env_6ace0414aecdb615e3996dbe80fedaea_tag_idx ON croupier.env_6ace0414aecdb615e3996dbe80fedaea USING btree (tag) WHERE (tag IS NOT NULL);


--
-- Name: batches closing; Type: TRIGGER; Schema: croupier; Owner: -
--

CREATE TRIGGER closing BEFORE UPDATE OF state ON croupier.batches FOR EACH ROW WHEN (((old.state = 'open'::text) AND (new.state <> 'open'::text))) EXECUTE FUNCTION croupier.wait_for_reports();


--
-- PostgreSQL database dump complete
--


