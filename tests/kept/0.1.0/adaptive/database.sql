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
-- Name: env_3a88228384b0a8d4102db42e15916fe0; Type: TABLE; Schema: croupier; Owner: -
--

CREATE TABLE croupier.env_3a88228384b0a8d4102db42e15916fe0 (
    tag bytea,
    envelope bytea NOT NULL
);
ALTER TABLE ONLY croupier.env_3a88228384b0a8d4102db42e15916fe0 ALTER COLUMN tag SET STATISTICS 0;
ALTER TABLE ONLY croupier.env_3a88228384b0a8d4102db42e15916fe0 ALTER COLUMN envelope SET STATISTICS 0;
ALTER TABLE ONLY croupier.env_3a88228384b0a8d4102db42e15916fe0 ALTER COLUMN envelope SET STORAGE EXTERNAL;


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
	('\xd3cf97df1b2aea50104b6dd80e86f29a', '\xc31c126b75f56ce7df44b82dc364762f336d0e2f3fb54f43877ed9260f6fe34f', 0, 'shredded', '2026-11-15 23:30:42+00', '{"batch":"d3cf97df1b2aea50104b6dd80e86f29a","key":"1e6c6016cf86a6f6e8369df74bcf611fc0e06bfa7381aa1f5af045f98079744b","kind":"shuffler","plan":"c31c126b75f56ce7df44b82dc364762f336d0e2f3fb54f43877ed9260f6fe34f","round":0,"signature":"a66842f6fd4f05d296b5b26155bae8de8cd8bd03b74d03f44db1a0d51f3c0b9a430eb94b3f6398080611accf71750a1d029fa2cca6833cee80ccb1b5531a5f05"}', '{"kind":"query","plan":"c31c126b75f56ce7df44b82dc364762f336d0e2f3fb54f43877ed9260f6fe34f","question":"crashed since build 4711","round":0,"signature":"0a3141008edb1d770c4b6c8039362a7ae83073dca88a632855c4f8070d8496dd496182d6df22785f256a39b365bd888e4a062a65141def4239044683b6ed420a"}'),
	('\x3a88228384b0a8d4102db42e15916fe0', '\xc31c126b75f56ce7df44b82dc364762f336d0e2f3fb54f43877ed9260f6fe34f', 1, 'open', '2026-11-15 23:31:27+00', '{"batch":"3a88228384b0a8d4102db42e15916fe0","key":"50103e56d8a0dd09ef3515aa419b93210d2a433ad66b56fa031c0cde308acd41","kind":"shuffler","plan":"c31c126b75f56ce7df44b82dc364762f336d0e2f3fb54f43877ed9260f6fe34f","round":1,"signature":"e85a4c31286ea17410ba4465332bc854b736c3e0017ddb00f10b69eef2e07f1eeea30832fcc9bc960e9d79a79bf2b68107e0f91c344b0ecdb4869732aa4f7802"}', '{"kind":"query","plan":"c31c126b75f56ce7df44b82dc364762f336d0e2f3fb54f43877ed9260f6fe34f","question":"crashed since build 4720","round":1,"signature":"d1652bb5b9341b92ff15b2c104a1b349ab67671fa8cd3877416228c5389ac529da88f7bc285ab6b2537fedfcd277d6ff3f6d0481c343bcdccb06b41deb921307"}');


--
-- Data for Name: env_3a88228384b0a8d4102db42e15916fe0; Type: TABLE DATA; Schema: croupier; Owner: -
--

INSERT INTO croupier.env_3a88228384b0a8d4102db42e15916fe0 VALUES
	('\xa7445d40424479cecfd5c3a3527e021770ac47365571215fc9cab932046d03aa', '\x2e1a080a9f4a57eb94bebed68a7afb0d364bab0b5722ac675e0023b0a9ff85531f30d306461204302d946d4938b8f429123d259ebe0b0341c589d470909cb645b147174958ea462645bea6bc502e613a9fc3a0d6e8d031def5f54d4ad6513b6a2a645fd4d996b24a1166f54d3a0dbd0030eb27d56dfac56f2672cb4631142b18'),
	('\xaffec9bdc7e78fed5e78afc1de1ab4ef81641bad923f16d855e8fd36e6f0f0d6', '\x9a71cdb1402c7e8c9dda7f934436416c2982a44f70758c34cc18fbb92c9825273def94fffed44585be67b15ee02d7c471acbbcaab2ed5e0c587b53eca60c6778cd318c94bf9973a8c81a2eca0b02a99acc0c1c4094f8a2b460acf9b9e47ef4aace74b816b756dcc23162641ba3ea0a3b057eac3f31ae66e1454ee8374c466d0a'),
	('\x40ca6c2c39407a953da6a09811867c083b81e88d49cae8a8d711a0427fc698f3', '\xc3c681d10699bbd21dfc0853bcaa5b39b926086828b26945ead9d8c50bec321a55aa5a21d855510f99c8eef518076a9404ccbdc64f08b887cef2b2ec6c42e148ecd0ba1f4e130b8f6a410d353cb33b42fce8b749c9e81053d1207899dbedb2621e656cc60f3d028cf45cd11104b82e247a2fe17e9a6d949bbab462c6295db366'),
	('\x30a17f8194a6313b181514798327f09bebf1803b921051d81f88553a2b82d2aa', '\x6f562379eb37a58f53b66dd58c143b80cb1f3b99bc4a52ec8c4f3bca0f07f74e227ec51481a43f5881267805044940959c39ddb21ba3caaec759b57bacf0488b9772d35a2dc6a58c1142bc367b9a626a2819d1c5dce5344a77539d8f96f541d35c1b1e57538b88dc85d78f089f3380c27a6cc8e055d040d0279d9821f07ef6c1'),
	('\x33aa6cf5e818b56a68b9ff6e80f4d5ff1e6bafabb251da141495f553966aca88', '\x95d0e21301908f03c3b3b5799eb3eccd896c186ec7b5c0288798ed484118e41b5aaccda9c57bb37758d86703db9a8a6aa721b7770f7e40ad400f71a31d365a6d08cf6c6ad9dae04cc4137a57263aa532abf67a86d6bb6f34d3a8c54a73d995dec1588c81b1c96565708adc1a509cb80ad21fa4c7fedbff258c96847fbe315d97'),
	('\xad8508192d88ba6b00c1cc45ade40af96d7e61e265f52e9e89bc892a4e460c94', '\x7c1e64b3a732fd196bd3ec431176aa82666bda9e9e1d1f3af14d899237c1ed581da77ac738bcd42f54adf42753fc5ea9962105e5578dcc5d1cdfedae193d4003d04e544049c828575705acb5f1c2a01c702e452cbfce8798eacc6eb56269391e6ff4a2d964005a058e96eb93076e5fd9da547d06238fd20b098de23816fe9e39'),
	('\x2b90566d0d076e4f7dad66cbd6dec3c66273dd07ab8a5ebf519360b6a3d5f86a', '\xcd57dca5c083453610cc3f59fb9f8a696a299b642b4f550c65656cbe45cbbd2695b04b89ff9b74bc02b503f02bc288b569ba18f844f74e6217edc9f098cc001992e9a5771779d31bb7b5219bc0019b8494ae842aff7111f70acde10503e94c01c85bd42c1f646a173103b1a71aa14b06bda0c7d9f29d944baddc00be25db2dec'),
	('\xfea1cdd2e3fac3e212ac740051008b9aac6f59afb659cf5df2c13f3fe2381845', '\xedf73217835be57227c3c14a0fecfcae46f1e6057a89be38ff1500c43c36c4351b7d9149bb50bb81b97d9a5d885ae034d9904ca61bbf42a85e070b188836f7aede7ef7f13b8c2ce0261acac40eff68d54d73443c2a6aa4490a2210b7ba517326911e328c8e2cfd170c7c8f30126f7537a3ac7de4e91946c61f0c59ffb4a07bd5'),
	('\x66843edac120a733cca5ebbd7b5762285e7954a8003a8dcf9f00f4564a2c89b1', '\xdf5ce4d3ef213c3363761653199b1d7d27be656ebc25fbd3594ed55d661596016af827eae8fe5c3ba3da9f2a439adfa8e17c6a6e7cddad69af04bf2c015b91e55c76a39e5321dcdf4567b52a0bd9d8bd99ebf6d9f46d24da7970d19f86054f8d3436f0e434af0a0bfdd81266c59665b068867f3539ddc3d885ee0e66c1bfbf4e'),
	('\xb2df3caa7b2eabdb0c71e1786f87b40541768558ada7092bb143f5f77e93dbd3', '\x45d4e265841d23bef09fc77e689543b22ee8188221b82353e0d5d9b38fe0114f6734757736a6d8c80091b2e9a669e1a6ede1c7940b8856589156f4080f6aad3c81c04be39d58c265f5afdc01d32ab682d188d4a8fa5d48acaddbebb1088781cceffd68ffd62b5da7d3bd67dd4455969ca4b34a7628e3b6060d8bafd3f8bac050'),
	('\x69010a801c794653fbf8bdd96b471f241686799a5f4223b8417f272d2a6563b8', '\x3fc976a3bcf303e75c42f1f019844b35400ae49df6763ee98d8f7340d94b7176f11a0f2c69360ad4691b3f8a5e45ea94ed093ee19ee9527277378ea1ac70318c0223cc104a0f546edac0243ad34f60a7f5a846053486fd442190af976dfae659eadcdf294a3003ae4c2ca929ea87e98d8e30db0470102cc05213832f3531ed7f'),
	('\xac4a8120977c5a634ce3ae453bd708c9074fca7331d690a697b0a03b3e331366', '\x42d178937ab4e1bdbe300f4acae9f96536d97c38ea4ab9476fda3572ed38134a9712699c37ee96985d85fe2fccab6eedb8dfe59271da8e981d227c95135e3cc56c098887080a05276e9b0c62bc3f3736c7f2f3e4f453a501f75364d4b6bcae9d866ef2aec03799a094104a870eab38ce5761677493a2c5b9f4bece6e4848a445'),
	('\xae4cabd56bfa1fb9b6026e3e4929deaacbceb6b9c1660eea7a0b0c343e0fc073', '\x78f9be9762beba1384f66a9552c068db73d277dd712c7154fc3129cfb578903913a043bb66c7c9e3474cb30dcd9fd167467155645d22bdd4972b2da97acbd9cc4e335267ec655cddbaecab8bbe902c04e90b94cfeaaa775c28534594014b8d0139d59a5a3f12f128fbed005ced04318deba2dac85a4088474074759d21b1f4dd'),
	('\x1ef97f9e8dac2ecf47145c880f03b893d0e87014a8cc99f6761508b992beb72b', '\x12141b63d1395b447e2386e3b7d1f6e33575351ee31b832b0922b7318394130672a42854e8e102d9f20da72be75567c20b954963b7fbd3409d3071f0b7c8b378531b045faf5b1053477bed857b7198e056478b5ade2673d967895aaa051617a387ab80b9426b4a7ea6293707334abdd6cb011ce3baa0f3fb9d92928d5fcacc51'),
	('\x4365dfe708b88cb06b86654220350c930493fa0d0c3effe815ede41e6ae0848a', '\x70ea4187336d10b05bad3c12a7fdd892cceb29d066b479cf38ffbf9290ebf34f7bbb0683be73316bb086a5e149a914d676c0b8863a53c10e8f8140ac330cd4a8c106a76eb7170ffcf406822b3d11c4a1c9266385e42f560306c0fc3ce6b3c242883020d8400fef469b2c9346ed22842482437c4244802e05667f52d6b52da6e3'),
	('\x14903adaff65552c293fc0fba8bc3bab0c4dd2aa0e10c7b954fce6150e1d19d9', '\x1cd5c963f4a6cbb93e5cc9a5798f0c0cd2c71e9a5e72972fc047e8938ab4b07bc84d573e1523755e10c3e5712b64dbdba789d9c77e6d9c96a531b39ff23b05404a707d4ffe0369ce0e739d641e2dde5ef5ccc01fddc542f28b8dbc3e3c27ca00d3de0b6a6649035d4479d8ed5c31d0775c16bf2666541f5606811414fdec40cc'),
	('\x005b62510dafa27f3c8491d89a341d4e877ea1795776e09dd0dc7ae23ad090fa', '\xe88a691eb044aa400ce558c62ced71ba6b6a530c948184c652e5754d642c6d513347fc5e58c301387932405807ece0cb485acfcc7ab6d70cb6f1c832f2261ea7609326e7e5e8b4e4d04058053b8dd31f2b7414042cf5deb1135af61c9e18dd0ba5280d84ae536ba198325684f5ded7e7f2d438da0aa307f06def95bab5828624'),
	('\x20d032fbc83837f83e111098edf2aa4e784d513db815eac593c93f5206c464c9', '\x17a702b41eb0b0216d9789c4e0f440d482b0a58204cfb82a35c16f64a80b876bc13a4bcd2ecd38ccc37020083b38c636225cd17d947ce04494ab055bf5e445380f240e1e57924d86742bcac71bbe4efb5d0af6725530b7a5b62a6e7d427eee1703c33c75489722e7e229284c6a1a1e2236296baa278eb501a2ca381fccd9453e'),
	('\xa5724df028f91b7300d1f04c3e4cc865bfdbe37fc4a8ac33cd9ac9579c6803a8', '\x12da4ab47af6ba1301f35a68dc43b21faf00f45e8b8b799f30b2ed7aae37220c7a360cf78594f334e5835d260e851e4ddb7767e9a53097e4035f12d8d87f6589b1b080d07e3b8e3607437ac59e4dea42c24b10f4d04129149b22d8abe682a01b57790f5bfd0e7c802c537092b57f9e57f8643308481cf233f5f0d411afd51efd'),
	('\xe7b939fc08d9593cb57ac3be9d0817c6aeb971afa3b6436a5b3e0b0b41f3abf8', '\xd0e1ab12c38d13e58a141c23bde2b396e5a87158116fa81baef84c75abc58d7438bd24765f57b48c79fe671b631887dfc330165f4c7900d4e4ff9b98857dfec699fade01f44016b173841abaafafbf0e829893db8b25b7f1c0557448d965a3bd881d95232cee205be80bb43e251dcaba3c07ef4d23d5ea090a6d07ddabd36a40'),
	('\xa24102ff4f828ff87d5088bde58df93cfd5b9ad776886d330a5aa785961a131c', '\x51d3a66bab1e89b9c88db22d829742cf1a334c49b77aced11fa682578301b73c62cb8a044ec5b7e2e306bceaf93889785c9dcae9875823010fd92a6d6d4bb08cde15567c808777aca4e8f69c8371cefd3a20084f29169c70d3831d23a3752eb2acd9f318361b08ce6405cabc9ff07b0e471b00d56a5b5698940894b893d5ee23'),
	('\x3dd1010d152ce29fff76f541d45f675f3a2e6ffa0faefa5fb0955aa2c00d5f1c', '\x0c882f25aae84280353b17ccc8a3419143ef25f01076492659de232c53cbbe6e2984f59d785f7c6d8f3073567bc57b2f9fcb1fea210e0578a8bdfa2abfca47d101b2f582d30533a87177d5bc0cef812837da2faf08f5c3f49d595c7e039370da2bc6199090a61f2b462bb41d2aa408b6c4a1b10064db68816e0765062449692f'),
	('\x094a4953a5193b83123ff31f6a7780e760e472f824ec2b072f79f191c1c3b778', '\xf37526b520bba2ab3de8c1e260be05679bc0959546464ffa9953ebc663b6fa6c784f3eaf03e177e782ba4f773a36d981675c67d47ef8656f81823afc4be1da62f1c6344017be70ed38927cef1727fc6f969b7e80bb7c6f687dd1af551237aef6c4ae9dbd066dfd1c58a2f138916212f75e50d5e16ebe7bc18e6f2302f3a8cf5e'),
	('\xa41183cf0639476c49ec0c9c53ea18d792675b1ad1385e5983189f06355a9123', '\x1a632c8d7ac056c3adfd237739c004502953f879bb79d6e58d6dc65aa62c6c0e0ddf2206f346df02b214a1034cd02641cced4885f79a2284a807a768f4a499e4da3d73848f8ae88c82bbbb1453f0608fbe853184b1e2f969b6cdeb15a57f599107809689549b9564816735c9227c75aba9822f920fddbe80e687e7053c779454'),
	('\x4b4661a116c509dd6c29d586b688452c54c331b95b32a3c6feaced3175873f67', '\x205118b962b87f2bb38ff1335f5fc0cf5f32ade2816e41bc68a849b74339df1daba3f1780d35971d4729aacd9fd8976baf1372cc3479caba3967dc9007cd36718bf5dc856cc2847d1638aa8cc70585844a2b2d2c1ab7c8efd6648fdee6b7305f9f2c2100ccd2cd60da61d7d249fa9dc4b72ca1e1fb865b11a5675e6bcc0b35b5'),
	('\x552b43b09c49573934983725047c2cd0d439b277a36a6d3e748299c2bb6aa78e', '\x18a0f235d983aa571bf837031ada7f35b5357727beeba00608ea029b61843f3a8941262cd42df7f1f6727686b9fe4607e67e7ce9e76594a54287ed323be3d9dfdd742d0094db10220956a111145020b25da01fe4a4e8781aa1009fcba7fc055292f3cf99ebcaa0ce5ed6fab528d6b20e558a7631580a66a4a64b9df39aebe207'),
	('\x5074d0ee7cb25293d0efdaf4e856e1a4cb48762fec8df9450bbb63e7c9ba4584', '\x0f582904e9789c3741257b9bc1e2fa59ae7320ceecb95a73922f0bc4bcfd300bf1ac733058de4702b0853fb73a2390452270e1fde2ccd98d4343f020ccaca8d9241dc3b4a31ece9389839d719302eb5660474e9f5dae681fc8307ecb29c67636c1a2b0d3812ce14cf291fbc22f62bcdfbe0235f1c4f8fe3df3fa7f44f94f3cbf'),
	('\x1747720fe846b74a23b0017a0556819427eb1bb16128a60ecab22419a9776b72', '\x2c5f893cde0d7a9d84cacf3f7764f32c60714c1ec07fca8ef4255b29ad0cd3066616be134a1d05ebdb2485952490536dd5df574168a653d1c46301648c2971eb119aaaf8c13b00f356d3b9c2116e31ac4e04412e727cf83d2ee51df0553afde8b80e8421e086a5bc48ea0a1a31146c14523a875b164a9445c78c5f1efcdc83c3'),
	('\x1cb031ddd4f0689bc605bf6d611e01ba506b337065c33da97a82c56270c7964b', '\x25603896c23665563585070d31870126558aca410b5fd036b788a84a34a18702fdf9dd8dd369ad134ecdd0b5a2635175aa7ba5f0f68e46d348560ce4d2436b07975209b29a01f8d67668996152f9b65a80c18c208c3d4dae3fa6a730e8a52ecc041167a0d00baf8bff31736241b971fbec0ec972a515ad5360f791c90ce26b9c'),
	('\x37fbcabfe715d0ef21a9420ec574af0efe2a1ebd2792c906a6072ff2e90b64b3', '\x8ebfbfe0574f6ab31d198e404117001e3e05d9d88a59c59168adca5b80896a1989b0d4ef232097f817bdf7113143d65acc5166d5597b5eef1a477095182ed53e07570b8b9f2c8433205e3c8a40d91acd70f66a3ff0fad7f1d045cdff2b5d3c540f69f0b4ed72690122fd767b31682fe06e89eb1ebb01013694e76a9d0ea2de00'),
	('\xfedacc16fe7f3eebaea02f9ae1e3ca8c47883cfaa0d41314c9fa311f25620d94', '\xe971dde775a9b2d4e9feb464ea117d7a36c191608d140bc6535ab67f9ed4de1ab16496db2c3bb33cf6b047153d4fc90cb1092594234dbda0c2fc275f00fce265b7801c8daf3a7917fc9edce21ce46171943e2eea7c9664cd7b9b5771e7bbafb8e117cdca4b8563c6ff012cfe92fb3614e2dd56a5678b78835594673ec8fde816'),
	('\x01aac8201c99a294f0bb2f09c16a72c687f4226bc0cd46fcd34e54328e1060f5', '\xfd35c9ad3c6b876db3cec5ebed557d484f7e7902f2d2b43e1cd00a47c31b51118c6e76d8a267a34c82b29733ed5e5f05047993efbf81b4ba766a50925d9d9020d88344b76947aaa2bc8976708ee10e26512c3734d9c9d7979eaa2c0a35b6f0ad388416cb605573737d895c603789f67993fddd351e92f72dd6c1b7d96619872a'),
	('\x00ebd5d8862f03fa36057d3165ea8ba9da58d4c949815abc8c857364e9d0d01d', '\x073e12c47ce4c9f0bb7f3e81f4fecfc6bbd1214d619afc660acf5273ce973c2b8054411f7c85a43c32d3ab1fa95b4e10ca4df0d9283216291c55ece3b830bf9ab8318c47cac16fb678afce29e48d74d452462c427aa7b70326d5b5a7b3d92703223486fa087b16179530cbfcd4190ba627ffa997179d1e52a742e622217a28b3'),
	('\x670402206c75be2bd47c5411fea5d5c36d291750cc8145897e080340f186b10a', '\xe48aae23af87285c76de035c59a4156641ff06aebaed91e30a4c03590fb3871da085198c359ddf0dffeaf82372606f6a8743c3683eb2d4e19cea3db98bcfe5e1d70920b9555cb6d6ce294d49d6c67b38c3f18aea8ab9952083b23f2460ec67a5d6e86a212a5a4cfe9ee034740e57fbbdf1e8d6a7f08becba7df128f07c3f5011'),
	('\xeb500211a95da46b753cff9732b845dc7d62ece9a1eb666017034bcff7d35ed8', '\xdce54220f48e6c9239afa1adc676a9ba6e366ee5ac98b8da2fe369808be2781bd20b9f203efcc0a9d99fe491831ebdf3fab862584f046bd829bd952b67a91ab83800a8bccc82b297aa69048e1263dee9c8ba5a0fd2e9cfbee476d63bd16e359c68ad8df3d1d88dea196f6cdd5a9c4e893f2001fcfc4afde0b03a51a64e9d1362'),
	('\x5f0ddf921a2b80597dddff7a020a70312ea00310fae70da2e1be956b88b01ee8', '\x4a9e4ad493f2ca2ae167339d683d813d2ae7a9a68cf16b50f15bdbc0c3641850022933a1eaeeed55991ac43d587129b4c4e286191066fae559f218412e85284a1c9616e2a9cc75c43abe67c44be3a12c90732689790824acd7d1157ce43d4a1e3580f5428b8d125f987e7c79c5175053a3c811d9d68f226b35d933252fe60ff4'),
	('\xa4d5f2d4a8b6f0fc1205a05921439c09bd31ea5f9efd70acf24c8b8ea4743d55', '\xa70b332e445db84e40c2b8c0eed4fd50c6469fde0ff24d27fb6a9ef1b72cae379ff00b9ebecfaba69f0c4a49084bff11bc8fe5e9f38be0160f4ae68c80e2ff79e09c93a565b77570675f095d52c2e5f7eda34ce0a21c15e964c980e7bab91266c6716baea3da763005f4a991c54744ba5b0f5fc99e192c702a50704a12735b8c'),
	('\xd255cb9e1e84dee92b1d09eacbe0a3fce1ad7baa82b31c08b1d69649c7af619c', '\x794c4463ffead2b7ee162a417a8bb83a3ea7029226ecd7e34b0502484461ec0f388bfad36a6d6b745b1b21da591887c6d09b49472b7d5f60ba2e4de4c6a8bc50c78e492281aea3665607d3231ec46b7fa438c26d189491e5fa3094492278ff7dd3f5406b9792bc95fb0dd51aa6c1b393fc05cd873d6c48b4cb87b41a1bc5568e'),
	('\x32565a5a517bedc81d8a5bd16ee7f5c8e7e134dfcb8eecfc03e74f1a5f969b6f', '\x395f1e84f155fd6de61fcc3c2f96c57e4159703e1000cd9e6088b6f473d3d516c491fcc62b0363010302629be3d9e527a4be57a50378e07e598a4658060f57e02186e54d1142ae83e2d88e867370b62e67b838f99529774ad134aefca1ad9263a1393406e279308b8cb3562fc88db71a2486111a4ea16db24b60bb11ff82713e'),
	('\x3eaa09299404da09f7061d49598f9394398a406af30a4a1f3deda0aac3473c01', '\xf93d3a860f3a40eb6c9ad6af9066b9a7ff0df7965e528ec32824f0c9210d2d0e7d23e645d458c9f6c35d1e771d3058068fd74252b0f0d8c61b2da847c30bd65b41c9a16aa29bc4807b065a5f399be6043791e60466fa768d8aecef1ecd1f1a726e2cae75f1395099b71fc39f67976ac442cebbb1b6507e9e3716d908196146f1'),
	('\xc8c430ce270479552f6dcb0c0da854a6980d444d6f0dc681aa4c612c5b1cb181', '\x1cbb9929a9c27b723707f4740535818f0c7495645aa85949313ed22f0d676d1e88d6c7206c5af22ed85861d9247502e2c91e8f1166640a8fa5c229ffa586099be6b1642588ad39ef847d43748c5afea2cf9c211257d7dfdbbc5e54a4351d9c6450c01c790ae6724698e6a1d9df5674365d9c66cd8d72c2fc39012ccea0e39367'),
	('\x92ff0d0a380d4dff3f0cefc4bd02777299b8b29fe0e65942397395aa1ada9d24', '\x3fd2bab58cdcade5a819a7ec27e9314d2a0ef09e70c46f88a79e90f6211987239d8f6fa75f8ce2ce8559001ff4a4297f95bac06aa42509251354490ce475fae40026d594cee3a5d6aae742c81ea03c84ca9cef9cef02a85c4fd3456336cb3d739c7b0353a67d16b615f901fd24ea993e37f0b1ffa677a0bd32ccd8ac0ebff0d1'),
	('\xa7cf3a92b4432891f78b8f7dee04e242aa3c3bd156bb1f334a1f88e9ad285e59', '\x28400275bd6c135dc4e915a844dcc9643aa690faa2cf7c5b98ed80eb0f0ad604076ceb9e6c68fd1b3a0fb5e50cda73fcd00095ca1dab723c23ef04309a62685a02af15f4d12041df940d1e5fb78f2f217778674bc88ea82b3a1249b610e0d9111c7ff5683576f5d0585cd13d460c9c72a819a29d7c81ff5d7b99a6588c35c22c'),
	('\x25827956c8a91331a8ab721c020d4ac6eda060cd37dd45c58091c05284323bfc', '\x7027c4bba375991fdebccf84221013a5f31693b20824ad02a243ed1a8d566c71eac6f72d9adb95328077d71f1ef787c11a9476e18c547f1dff3077859f3ff0758ff2b600c2f8ebcb285f55e3abb826e77bfccdf1b9043802b8de1ff45742ab57d25711365ab3cbc94fa800031ddb90d1d2be3ef1eb124927456590190df0f6c7'),
	('\x574f69fa466a59727569ddb296db4b215cc5317365314450fd75009a4e9b6b3c', '\x6a3da4dba0840b4168d7e7b59f0df251a200c8977daa97748c09c676e38b315037abba9c8987cf65e0a7643dcd2eae7783ef704e7f7a0ffb22ffc7521a0e8840343cf32119d9cc8bd841c58df634dbaa2b8bfa451b642e55ca8151755a0bcbece21f02a52317d8740f91e119d1439da42e4517cfd45e70f0781cefe9f424dcf0'),
	('\x0b90728b260b3509703566bad83562516bb25a2b962011b9d1ff5fa4e4deb838', '\x09d038b987dad3e18ef51df5e91000e40f4b9abb724e7049e6f3b7c6e7ae1a71bb34a93c3a86b3985a64c19210a2c2ac4b90bfa1651710c9c55971f6441a14ea394a4cd0eadc77cc9521cdeeaa9804626e2d601fdfb8aadd7064c810f5530086c0a13a648f18b59cb45ad74a966074ea8393f4fb639e217d42763be4aa44b505'),
	('\xfd81a2c63372ad7fdf33cefc15d6cb82a0b29abd3a9716b4498c11e9331c87eb', '\xd3dcd1d22145b8c77c01d3fd6ac313adc4f55e0ce576544f9c75dc0a19c6c714f42b18d3bca9cfb2e2f4b9b171619a1a1b80a47ebcd550ffc1070b628fcddc7bd9a2f4fbd9b0ce8959647b20607817f9fb8a203953ac4ce6925ad9645cd7df47ba6c1112bc45e928a134323d37c256f1f7ad5bbe8d2b15b634883fd8b83a18ad'),
	('\xb1deaaf76d0f2733bbc5cbb175532a59e3e945d8229d76bc7cfbcf05bff99181', '\x4ecedf1a57649f9c9fee5a9c37d1570d8e5f7def7cc38c07635ede9c62f478769d896e74d6d4cb44b9f38602389e9f15d07893b06dceb6bc271b756df7f8cfc1f58e4d11c82124a781e34dc96a5e4c2b1b0475af5a648b9998b57999403437b3877c12f62962929273060d0bdfa41aa1dfc7b6edf8a236b7b5ca78e99a96b632'),
	('\xdf6b3ba00901f2dbfe613e348ea257119041bff413efe71f959e7743d56319ae', '\x5e5e678f09f05760d418dbb6e588c4a666e8715963f18e177e25bf741e7bc86dea59d10b0f8ee6c8485caa59efee2ac2b2acdcc85c919ec650271cf35882fb195e7f81bea147c36f952f9c4e52c4c65ca4fd38c33be6a2b5096c46a4f54546f1bc77d16367705ba6c4b7af58018e37b6fecd1cda44257124afcf12b8a05e280a'),
	('\x2c01ec9f717f11094b88d626e43cfd817c24ae771d4741eef9bf78ef3cf77314', '\xe5ceea37265581904068177f3c3eb31cbb250c01a26f5ead8b5b6a539d516604eb0d210bc82918dc1007b4ffbf235c6776095b36588783301ab5098f06fc310eee38484d4b5bb1887e4a1cdc53d448e78d55d5a9ae54f9b700debe7e7b9b7e5d565691f1434d61109357c6864564ba42cc160fa8e401727c171e72e15b3e0a21');


--
-- Data for Name: migrations; Type: TABLE DATA; Schema: croupier; Owner: -
--

INSERT INTO croupier.migrations VALUES
	('0001_batches.sql');


--
-- Data for Name: receipts; Type: TABLE DATA; Schema: croupier; Owner: -
--

INSERT INTO croupier.receipts VALUES
	('\xc31c126b75f56ce7df44b82dc364762f336d0e2f3fb54f43877ed9260f6fe34f', 0, '{"batch":"d3cf97df1b2aea50104b6dd80e86f29a","counts":{"cannot_open":0,"disposed":0,"duplicate":0,"received":49,"released":49,"second_report":0,"unknown_owner":0,"wrong_length":0,"wrong_owner":0},"event":"released","file":{"name":"2026-11-15-round-0.parquet","sha256":"a207d3dd6fe402313a537f121d767834ad216667507e2c9c325b354bdb4570da","size":4274},"number":0,"plan":"c31c126b75f56ce7df44b82dc364762f336d0e2f3fb54f43877ed9260f6fe34f","previous":"0000000000000000000000000000000000000000000000000000000000000000","query":"27a2b96679b83fa4c0d8d59b2fa687e992cd5e0dd88ac89aca5e4c268a653104","round":0,"schema_version":1,"signature":"e12fe300a6dd1824867d08e64aa770c96d576490fe8cb1a4bf841aca7fb4dba9da8cd8aa7961d2320e07c46aae89b5656290b7a2525be8ba4aa57fe01fdcab0a"}');


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
-- Name: env_3a88228384b0a8d4102db42e15916fe0_tag_idx; Type: INDEX; Schema: croupier; Owner: -
--

CREATE UNIQUE INDEX env_3a88228384b0a8d4102db42e15916fe0_tag_idx ON croupier.env_3a88228384b0a8d4102db42e15916fe0 USING btree (tag) WHERE (tag IS NOT NULL);


--
-- Name: batches closing; Type: TRIGGER; Schema: croupier; Owner: -
--

CREATE TRIGGER closing BEFORE UPDATE OF state ON croupier.batches FOR EACH ROW WHEN (((old.state = 'open'::text) AND (new.state <> 'open'::text))) EXECUTE FUNCTION croupier.wait_for_reports();


--
-- PostgreSQL database dump complete
--


