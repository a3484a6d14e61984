import { expect, test } from 'vitest';
import { defaultEntities, type Entity, entityNames } from '../../../src/builtins/pii/entity.ts';
import { detector, found } from './support.ts';

const z = '\u200b';
const nbsp = '\u00a0';

const hits: Readonly<Partial<Record<Entity, readonly [text: string, value: string][]>>> = {
  CREDIT_CARD: [
    ['card 4111111111111111.', '4111111111111111'],
    ['4111 1111 1111 1111', '4111 1111 1111 1111'],
    ['x4111-1111-1111-1111y', '4111-1111-1111-1111'],
    ['3782 822463 10005 is Amex', '3782 822463 10005'],
    ['take 12 4111 1111 1111 1111 99 now', '4111 1111 1111 1111'],
    ['4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1', '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1'],
    ['卡号4111111111111111是', '4111111111111111'],
    ['４１１１１１１１１１１１１１１１', '４１１１１１１１１１１１１１１１'],
    ['٤١١١١١١١١١١١١١١١', '٤١١١١١١١١١١١١١١١'],
    [`4111${z}1111${z}1111${z}1111`, `4111${z}1111${z}1111${z}1111`],
    [`4111${nbsp}1111${nbsp}1111${nbsp}1111`, `4111${nbsp}1111${nbsp}1111${nbsp}1111`],
    ['4111–1111–1111–1111', '4111–1111–1111–1111'],
    ['my maestro 501864667909', '501864667909'],
  ],
  IBAN_CODE: [
    ['IBAN: DE89 3704 0044 0532 0130 00!', 'DE89 3704 0044 0532 0130 00'],
    ['gb82west12345698765432', 'gb82west12345698765432'],
    ['NO93-8601-1117-947 to', 'NO93-8601-1117-947'],
  ],
  US_SSN: [
    ['it is 536-22-8714.', '536-22-8714'],
    ['SSN 536228714', '536228714'],
    ['social security: 536 22 8714', '536 22 8714'],
  ],
  US_ITIN: [
    ['file with 912-70-1234 please', '912-70-1234'],
    ['ITIN 912701234', '912701234'],
  ],
  US_PASSPORT: [['passport no. 488839667', '488839667']],
  US_MBI: [
    ['card 1EG4-TE5-MK73', '1EG4-TE5-MK73'],
    ['Medicare 1EG4TE5MK73', '1EG4TE5MK73'],
  ],
  US_NPI: [['NPI: 1463915201', '1463915201']],
  UK_NHS: [['NHS number 870 028 4165', '870 028 4165']],
  UK_NINO: [
    ['it is AB 12 34 56 C', 'AB 12 34 56 C'],
    ['NI no: JG103759A', 'JG103759A'],
  ],
  DE_TAX_ID: [['Steuer-ID 19 385 028 676', '19 385 028 676']],
  FR_NIR: [['il a 2 77 05 69 047 869 19', '2 77 05 69 047 869 19']],
  ES_NIF: [
    ['con 30183234N', '30183234N'],
    ['DNI 41.173.966-X', '41.173.966-X'],
  ],
  ES_NIE: [['con X-9062639-H', 'X-9062639-H']],
  IT_FISCAL_CODE: [['è RSSMRA85L10H501E', 'RSSMRA85L10H501E']],
  NL_BSN: [['BSN 959533965', '959533965']],
  PL_PESEL: [['PESEL: 85071237287', '85071237287']],
  BR_CPF: [
    ['é 849.521.848-89', '849.521.848-89'],
    ['CPF 84952184889', '84952184889'],
  ],
  BR_CNPJ: [['a 23.085.977/0001-54', '23.085.977/0001-54']],
  CA_SIN: [['SIN 496 943 564', '496 943 564']],
  AU_TFN: [['TFN: 840 463 370', '840 463 370']],
  AU_MEDICARE: [['medicare 6022 78522 0', '6022 78522 0']],
  IN_AADHAAR: [['आधार 3454 4522 6083', '3454 4522 6083']],
  IN_PAN: [['as ABCPE1234F', 'ABCPE1234F']],
  CN_RESIDENT_ID: [['张三110105198307086769', '110105198307086769']],
  JP_MY_NUMBER: [['マイナンバーは703368850501です', '703368850501']],
  KR_RRN: [
    ['주민등록번호 850712-1300021', '850712-1300021'],
    ['RRN 850712-1234567', '850712-1234567'],
  ],
  SG_NRIC_FIN: [['for S8544259G', 'S8544259G']],
  MEDICAL_RECORD: [['MRN: 00482913', '00482913']],
  CRYPTO: [
    ['to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    ['TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'],
  ],
  EMAIL_ADDRESS: [
    ['<ada.l+x@mail.example.co.uk>', 'ada.l+x@mail.example.co.uk'],
    ['mailto:ada@example.org?subject=x', 'ada@example.org'],
    ['jörg@bücher.de', 'jörg@bücher.de'],
    ['write to ada@site.com.Then wait', 'ada@site.com'],
    ['ops@host.internal', 'ops@host.internal'],
    ["o'neil@x.io", "o'neil@x.io"],
    ['ａｄａ＠ｅｘａｍｐｌｅ．ｏｒｇ', 'ａｄａ＠ｅｘａｍｐｌｅ．ｏｒｇ'],
  ],
  IP_ADDRESS: [
    ['from 203.0.113.77:8080', '203.0.113.77'],
    ['at 2001:db8::8a2e:370:7334.', '2001:db8::8a2e:370:7334'],
    ['[fe80::1ff:fe23:4567:890a]', 'fe80::1ff:fe23:4567:890a'],
  ],
  MAC_ADDRESS: [
    ['eth 00:1a:2b:3c:4d:5e up', '00:1a:2b:3c:4d:5e'],
    ['001a.2b3c.4d5e', '001a.2b3c.4d5e'],
  ],
  URL_CREDENTIALS: [
    ['postgres://app:s3cr3t@db.internal/x', 'app:s3cr3t'],
    ['https://u:p@ss@h.com', 'u:p@ss'],
  ],
  API_KEY: [
    [`sk-ant-api03-${'aB3_'.repeat(8)}`, `sk-ant-api03-${'aB3_'.repeat(8)}`],
    [`token is ghp_${'a1B2'.repeat(9)};`, `ghp_${'a1B2'.repeat(9)}`],
    [`github_pat_${'a1B2_'.repeat(6)}`, `github_pat_${'a1B2_'.repeat(6)}`],
    ['glpat-abcDEF1234567890wxyz', 'glpat-abcDEF1234567890wxyz'],
    ['xoxb-1234567890-abcdefghij', 'xoxb-1234567890-abcdefghij'],
    ['AKIAIOSFODNN7EXAMPLE', 'AKIAIOSFODNN7EXAMPLE'],
    [`AIza${'Sy0-_'.repeat(7)}`, `AIza${'Sy0-_'.repeat(7)}`],
    ['ya29.a0AfH6SMBx1234567890abc', 'ya29.a0AfH6SMBx1234567890abc'],
    [`npm_${'aB3x'.repeat(9)}`, `npm_${'aB3x'.repeat(9)}`],
    [`hf_${'aB3x'.repeat(8)}`, `hf_${'aB3x'.repeat(8)}`],
    ['x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_1 y', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_1'],
    ['Authorization: Bearer 8f3kQz91LmXo77ABCdef', '8f3kQz91LmXo77ABCdef'],
  ],
  PRIVATE_KEY: [
    [
      'a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b',
      '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
    ],
    ['-----BEGIN PRIVATE KEY-----\nMIIE', '-----BEGIN PRIVATE KEY-----\nMIIE'],
  ],
  SECRET: [
    ['DB_PASSWORD=hunter2x!', 'hunter2x!'],
    ['"clientSecret": "9f8e7d6c5b4a39281706"', '9f8e7d6c5b4a39281706'],
    ['my password is Tr0ub4dor&3.', 'Tr0ub4dor&3'],
    ['api_key: zX81kQ04mPn2vT77', 'zX81kQ04mPn2vT77'],
  ],
  DATE_OF_BIRTH: [
    ['born on 2/8/1935.', '2/8/1935'],
    ['DOB: 1980-02-03', '1980-02-03'],
    ['Date of birth 3rd of March 1980', '3rd of March 1980'],
    ['She was born in Oslo on March 5, 1980', 'March 5, 1980'],
    ['geboren am 05.03.1980', '05.03.1980'],
  ],
  PHONE_NUMBER: [
    ['call 415-555-0132 now', '415-555-0132'],
    ['(415) 555-0132', '(415) 555-0132'],
    ['+44 20 7946 0958', '+44 20 7946 0958'],
    ['+46 (0)8 928 571 38', '+46 (0)8 928 571 38'],
    ['fax 4155550132', '4155550132'],
    ['415-555-0132 ext. 77', '415-555-0132 ext. 77'],
    ['+４９ ３０ １２３４５６', '+４９ ３０ １２３４５６'],
    ['0490 75 40 81', '0490 75 40 81'],
  ],
  DOMAIN_NAME: [['see https://www.Example-Site.se/', 'https://www.Example-Site.se']],
  AGE: [['a 79 year old man', '79']],
  ZIP_CODE: [['ZIP: 394 13', '394 13']],
  STREET_ADDRESS: [
    ['at 12 Baker Street today', '12 Baker Street'],
    ['Hauptstraße 12', 'Hauptstraße 12'],
  ],
  PERSON: [
    ['Mr. Baker called', 'Baker'],
    ['my name is Krisztián Szöllösy', 'Krisztián Szöllösy'],
    ['ask Mary about it', 'Mary'],
  ],
  LOCATION: [['I moved to Tjæreborg', 'Tjæreborg']],
};

const rows = entityNames.flatMap((entity) =>
  (hits[entity] ?? []).map(([text, value]) => ({ entity, text, value })),
);

test('every entity has a row', () => {
  expect(entityNames.filter((entity) => hits[entity] === undefined)).toEqual([]);
});

test.each(rows)('$entity is found in: $text', ({ entity, text, value }) => {
  const entities = defaultEntities.includes(entity) ? defaultEntities : [entity];
  expect(found(text, entities)).toEqual([`${entity} ${value}`]);
});

const misses = [
  'order 4111111111111112 has a wrong check digit',
  'the ratio is 0.4111111111111111 exactly',
  '1234567890123456 begins like no card',
  'EAN 4006381333931',
  'DE89370400440532013001 has wrong check digits',
  '666-12-3456 and 900-12-3456 and 123-00-4567 and 123-45-0000 were never issued',
  '12 34 56 78 90 11 13',
  'user@nowhere.notatld and @ada and a@b',
  'git@github.com:org/repo.git',
  'v1.2.3.4 and 256.1.1.1 and 1.2.3.4.5',
  'std::vector a::b 12:34:56 ::',
  'SHA 00:1a:2b:3c:4d:5e:6f:70:81:92',
  'https://host:8080/path',
  'sk-short and eyJ.eyJ.x and Bearer of news',
  '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
  'password: required, the password is important, PASSWORD=$DB_PASSWORD, password=<hidden>',
  'token: findUrlCredentials',
  'founded in 1977, on 2/8/1935, at 2000-04-16 11:34:35',
  'it costs 1,234,567.89 in 2019-2020, see pages 100-200',
  '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb has a wrong checksum, as bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdx has',
  'NPI 1463915202, PESEL 85071237288, BSN 959533966, NHS 8700284166, 30183234A, S8544259A, CPF 849.521.848-88',
  'numbers without a word: 1463915201, 85071237287, 959533965, 496943564, 840463370, 345445226083',
  'timestamp 1700000000, ticket number 415-555-0132-9',
  '3.333333333333333 + 95.83333333333333',
];

test.each(misses)('nothing is found in: %s', (text) => {
  expect(found(text)).toEqual([]);
});

test('confirmed findings take precedence over guesses, and longer ones over shorter ones', () => {
  expect(found('GB82 WEST 1234 5698 7654 32')).toEqual(['IBAN_CODE GB82 WEST 1234 5698 7654 32']);
  expect(found('call 4111 1111 1111 1111')).toEqual(['CREDIT_CARD 4111 1111 1111 1111']);
  expect(found('password=AKIAIOSFODNN7EXAMPLE')).toEqual(['API_KEY AKIAIOSFODNN7EXAMPLE']);
});

test('offsets are those of the original text, after wide and zero-width characters', () => {
  const text = `😀${z}😀 ４111 1111 1111 1111${z}`;
  const [finding] = detector()(text);
  expect(text.slice(finding?.start)).toBe(`４111 1111 1111 1111${z}`);
});
