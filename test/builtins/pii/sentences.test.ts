import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { languageRowOf, languages, measureSentences } from '../../../bench/pii-score.ts';
import { createDetector } from '../../../src/builtins/pii/detector.ts';
import { defaultEntities } from '../../../src/builtins/pii/entity.ts';

const docs = readFileSync(join(import.meta.dirname, '../../../docs/reference/pii.md'), 'utf8');

describe.each(languages)('sentences in %s', (language) => {
  const score = measureSentences(language);

  test('are a hundred with personal data and a hundred without', () => {
    expect(score.labelled).toBeGreaterThanOrEqual(100);
    expect(score.clean).toBeGreaterThanOrEqual(100);
  });

  test('lose 95 % of the data, and at most one in a hundred others is changed', () => {
    const { labelled, found, clean, flagged, wrong } = score;
    const isGood = found / labelled >= 0.95 && flagged / clean <= 0.01;
    expect({ isGood, wrong: isGood ? [] : wrong }).toEqual({ isGood: true, wrong: [] });
  });

  test('are measured as the documentation says', () => {
    expect(docs).toContain(`| ${languageRowOf(score).join(' | ')} |`);
  });
});

const detect = createDetector({ entities: defaultEntities, regions: [], isAllowed: () => false });

/** Words of scripts without spaces, or with particles that follow at once. */
const words = fc.constantFrom(
  '联系',
  '谢谢',
  '是',
  'です',
  'まで',
  'メール',
  '연락처는',
  '입니다',
  'ติดต่อ',
  'ครับ',
  'ຂອບໃຈ',
);
const values = fc.constantFrom(
  'EMAIL_ADDRESS lixy@qq.com',
  'EMAIL_ADDRESS 10086@mail.example.com.cn',
  'EMAIL_ADDRESS jörg@bücher.de',
  'IBAN_CODE DE89370400440532013000',
  'IBAN_CODE GB29 NWBK 6016 1331 9268 19',
  'CREDIT_CARD 4111 1111 1111 1111',
  'CREDIT_CARD 4111111111111111',
  'PHONE_NUMBER +81 90 1234 5678',
  'PHONE_NUMBER +8613800138000',
  'IP_ADDRESS 203.0.113.77',
  'IP_ADDRESS 2001:db8:85a3::8a2e:370:7334',
  'MAC_ADDRESS 3C:7C:3F:12:AB:9E',
  'API_KEY ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  'CN_RESIDENT_ID 110105198307086769',
  'CRYPTO bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
);
const edges = fc.constantFrom('', '：', '，', '。', '「', '」', '、', '（', '）', '！');

test('a value begins and ends where a script without spaces does, whatever surrounds it', () => {
  fc.assert(
    fc.property(words, edges, values, edges, words, (before, opening, row, closing, behind) => {
      const [entity = '', ...rest] = row.split(' ');
      const value = rest.join(' ');
      const text = `${before}${opening}${value}${closing}${behind}`;
      const findings = detect(text).map(
        ({ entity: name, start, end }) => `${name} ${text.slice(start, end)}`,
      );
      expect(findings).toEqual([`${entity} ${value}`]);
    }),
    { numRuns: 600 },
  );
});

const international = fc.constantFrom(
  '用户@例子.中国',
  '李明@例子.公司',
  '田中@例え.みんな',
  'राहुल@उदाहरण.भारत',
  'иван@почта.рф',
  'jörg@größe.de',
  '홍길동@한국.kr',
  'a@例子abc.com',
);

test('addresses in other scripts are found whole', () => {
  fc.assert(
    fc.property(
      international,
      fc.constantFrom('', ' ', '<', '：', '('),
      fc.constantFrom('', ' ', '>', '，', ')', '。'),
      (address, opening, closing) => {
        const text = `${opening}${address}${closing}`;
        expect(detect(text).map(({ start, end }) => text.slice(start, end))).toEqual([address]);
      },
    ),
  );
});

/** A number that begins with a year, or that follows a word for an identifier, is an identifier of any length. */
const identifiers = fc
  .tuple(
    fc.constantFrom(
      'CVE-',
      'INV-',
      'RE-',
      'release/',
      'docket no. ',
      'report-',
      'Az. ',
      'expediente ',
      'dossier n° ',
      '案件',
      '案号',
      'ticket #',
      'मामला ',
    ),
    fc.integer({ min: 1980, max: 2030 }),
    fc.integer({ min: 10_000, max: 9_999_999 }),
    fc.constantFrom('', '.pdf', ' is open', '。', ', v2'),
  )
  .map(([lead, year, number, rest]) => `${lead}${year}-${number}${rest}`);

test('numbers of cases, invoices and releases are not phone numbers', () => {
  fc.assert(
    fc.property(identifiers, (text) => {
      expect(detect(text).filter(({ entity }) => entity === 'PHONE_NUMBER')).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

const version = fc.tuple(fc.nat(30), fc.nat(30), fc.nat(9), fc.nat(9)).map((parts) => parts.join('.'));
const program = fc.constantFrom(
  'nginx ',
  'version ',
  'Version ',
  'versión ',
  'v',
  'build ',
  '版本',
  'バージョン',
  'संस्करण ',
  'firmware ',
  'release ',
);

test('versions, netmasks and addresses of no other machine are not addresses', () => {
  const mask = fc.integer({ min: 1, max: 32 }).map((bits) => {
    const value = bits === 32 ? 0xffffffff : ~(0xffffffff >>> bits) >>> 0;
    return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
  });
  const loopback = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)).map((parts) => `127.${parts.join('.')}`);
  const nobody = fc.oneof(
    fc
      .tuple(program, version)
      .map(([name, number]) => name + number)
      // After a bare product name, 10.0.0.1 is more often an address.
      .filter((text) => !text.startsWith('nginx 10.')),
    mask,
    loopback,
    fc.constantFrom('::1', '::', '0.0.0.0', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'),
  );
  fc.assert(
    fc.property(nobody, (text) => {
      expect(detect(`see ${text} there`)).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});
