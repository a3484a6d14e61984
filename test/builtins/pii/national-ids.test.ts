import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDetector } from '../../../src/builtins/pii/detector.ts';
import { defaultEntities, regionOf } from '../../../src/builtins/pii/entity.ts';
import { type IdEntity, idFormats } from '../../../src/builtins/pii/finders/national-ids.ts';

const options = { regions: [], isAllowed: () => false };
const entities = defaultEntities.filter((entity) => Object.hasOwn(idFormats, entity));

/** A valid number of each country as people write it, and the word that introduces it. */
const samples: Readonly<Record<IdEntity, readonly [written: string, word: string]>> = {
  US_ITIN: ['912-70-1234', 'ITIN'],
  US_PASSPORT: ['488839667', 'passport'],
  US_MBI: ['1EG4-TE5-MK73', 'MBI'],
  US_NPI: ['1463915201', 'NPI'],
  UK_NHS: ['870 028 4165', 'NHS'],
  UK_NINO: ['JG 10 37 59 A', 'NINO'],
  DE_TAX_ID: ['19385028676', 'Steuer-ID'],
  FR_NIR: ['277056904786919', 'NIR'],
  ES_NIF: ['30183234N', 'DNI'],
  ES_NIE: ['Z8274849Y', 'NIE'],
  IT_FISCAL_CODE: ['RSSMRA85L10H501E', 'codice fiscale'],
  NL_BSN: ['959533965', 'BSN'],
  PL_PESEL: ['85071237287', 'PESEL'],
  BR_CPF: ['84952184889', 'CPF'],
  BR_CNPJ: ['23085977000154', 'CNPJ'],
  CA_SIN: ['496 943 564', 'SIN'],
  AU_TFN: ['840463370', 'TFN'],
  AU_MEDICARE: ['6022 78522 0', 'Medicare'],
  IN_AADHAAR: ['3454 4522 6083', 'Aadhaar'],
  IN_PAN: ['ABCPE1234F', 'PAN'],
  CN_RESIDENT_ID: ['110105198307086769', '身份证'],
  JP_MY_NUMBER: ['703368850501', 'マイナンバー'],
  KR_RRN: ['850712-1300021', '주민등록번호'],
  SG_NRIC_FIN: ['S8544259G', 'NRIC'],
};

/** The entities whose check digits accept at most one in ten random numbers. */
const checked = entities.filter(
  (entity) =>
    !['US_ITIN', 'US_PASSPORT', 'US_MBI', 'UK_NINO', 'IN_PAN', 'KR_RRN', 'AU_MEDICARE'].includes(entity),
);

test.each(Object.entries(samples))(
  '%s is found after its word, and each can be disabled',
  (entity, [written, word]) => {
    const text = `${word}: ${written}`;
    const found = createDetector({ ...options, entities: [entity] })(text);
    expect(found.map(({ start, end }) => text.slice(start, end))).toEqual([written]);
    expect(regionOf(defaultEntities.find((name) => name === entity) ?? 'AGE')).toMatch(/^[A-Z]{2}$/);
    const others = createDetector({ ...options, entities: entities.filter((other) => other !== entity) })(
      text,
    );
    expect(others.filter((finding) => finding.entity === entity)).toEqual([]);
  },
);

describe('a check digit that is wrong', () => {
  test.each(checked)('makes %s none', (entity) => {
    const [, [written, word]] = Object.entries(samples).find(([name]) => name === entity) ?? ['', ['', '']];
    const detect = createDetector({ ...options, entities: [entity] });
    const digits = [...written.matchAll(/\d/g)].map(({ index }) => index);
    const changes = digits.flatMap((at) =>
      Array.from({ length: 10 }, (_, digit) => written.slice(0, at) + digit + written.slice(at + 1)),
    );
    const found = changes.filter((change) => change !== written && detect(`${word}: ${change}`).length > 0);
    // Check digits detect single wrong digits, but modulo 11 has remainders without a digit.
    expect(found.length).toBeLessThanOrEqual(changes.length / 20);
  });
});

test('numbers without a word, an issuer or a region are unchanged', () => {
  const detect = createDetector({ ...options, entities });
  let count = 0;
  const digits = fc.array(fc.nat(9), { minLength: 7, maxLength: 16 }).map((list) => list.join(''));
  fc.assert(
    fc.property(digits, (number) => {
      count += detect(`there are ${number} of them`).length;
    }),
    { numRuns: 3000, seed: 1 },
  );
  expect(count).toBe(0);
});

test('a configured region replaces the word, if the number is written in groups', () => {
  const text = 'see 870 028 4165';
  expect(createDetector({ ...options, entities })(text)).toEqual([]);
  const found = createDetector({ ...options, regions: ['GB'], entities })(text);
  expect(found.map(({ entity }) => entity)).toEqual(['UK_NHS']);
});
