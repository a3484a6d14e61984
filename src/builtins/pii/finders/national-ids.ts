import type { KnownEntity } from '../entity.ts';
import type { Finder, Finding } from '../finding.ts';
import { idValidators, libraries } from '../lazy-libraries.ts';
import type { ScannedText } from '../scanned-text.ts';
import { isTold, tellingWords, wordsBehind } from './context.ts';

interface IdFormat {
  readonly shape: string;
  /** Takes letters and digits only, in capitals. */
  readonly isValid: (compact: string) => boolean;
  readonly words: string;
  /** Whether the check digits or the shape are so rare that no label is needed. */
  readonly isRare?: (written: string) => boolean;
}

const always = () => true;
const isGrouped = (written: string) => /\d[ .-]\d/.test(written);

function weighted(weights: readonly number[], modulus: number) {
  return (digits: string) =>
    weights.reduce((sum, weight, at) => sum + weight * Number(digits[at]), 0) % modulus === 0;
}

function isSame(digits: string): boolean {
  return /^(\d)\1+$/.test(digits);
}

/** NPI: the Luhn check digit after the prefix 80840 (45 CFR 162.406). */
const isNpi = (digits: string) => libraries.isLuhnNumber()(`80840${digits}`);

/** NHS: weights 10 to 2 and the check digit, modulo 11 (NHS Data Dictionary). */
const isNhs = (digits: string) => !isSame(digits) && weighted([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 11)(digits);

/** The ninth digit checks the first eight (Services Australia). */
const isMedicare = (digits: string) => weighted([1, 3, 7, 9, 1, 3, 7, 9, 9], 10)(digits);

/** Weights 6 to 2 and 7 to 2; a remainder below 2 gives 0 (ordinance no. 85 of 2014 on My Number). */
function isMyNumber(digits: string): boolean {
  if (isSame(digits)) return false;
  const weights = [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2];
  const rest = weights.reduce((sum, weight, at) => sum + weight * Number(digits[at]), 0) % 11;
  return Number(digits[11]) === (rest < 2 ? 0 : 11 - rest);
}

/** A letter encodes the remainder of the weighted digits; T and G add 4, M adds 3. */
function isNric(compact: string): boolean {
  const [series = '', letter = ''] = [compact[0], compact[8]];
  const added = { T: 4, G: 4, M: 3 }[series] ?? 0;
  const sum = [2, 7, 6, 5, 4, 3, 2].reduce(
    (total, weight, at) => total + weight * Number(compact[at + 1]),
    added,
  );
  const letters = 'ST'.includes(series) ? 'JZIHGFEDCBA' : series === 'M' ? 'KLJNPQRTUWX' : 'XWUTRQPNMLK';
  return letters[series === 'M' ? 10 - (sum % 11) : sum % 11] === letter;
}

/** A birth date and a century digit; numbers since October 2020 have no check digit. */
function isRrn(digits: string): boolean {
  const [month, day] = [Number(digits.slice(2, 4)), Number(digits.slice(4, 6))];
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 && /^[0-8]$/.test(digits[6] ?? '');
}

/** Prefixes that HM Revenue & Customs does not issue. */
const isNino = (compact: string) => !/^(?:BG|GB|KN|NK|NT|TN|ZZ)/.test(compact);

/** The order breaks ties between matches of equal length. */
export const idFormats = {
  US_ITIN: {
    shape: String.raw`9\d{2}([ -]?)(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])\1\d{4}`,
    isValid: always,
    isRare: (written) => written.includes('-'),
    words: 'itin|taxpayers?|tax ?payer id*|tax id*|tax (?:no|number)|tin',
  },
  US_PASSPORT: {
    shape: String.raw`[A-Z]?\d{8,9}`,
    isValid: (compact) => compact.length === 9,
    words:
      'passports?|passport (?:no|number|card)|pasaporte|passeport|reisepass|passnummer|pass(?:port)?nr|护照*|パスポート|पासपोर्ट',
  },
  US_MBI: {
    shape: String.raw`[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d-?[AC-HJKMNP-RT-Y]{2}\d{2}`,
    isValid: always,
    isRare: (written) => written.includes('-'),
    words: 'mbi|medicare|beneficiary',
  },
  US_NPI: {
    shape: String.raw`[12]\d{9}`,
    isValid: isNpi,
    words: 'npi|provider (?:id|identifier|no|number)|national provider',
  },
  UK_NHS: { shape: String.raw`\d{3}([ -]?)\d{3}\1\d{4}`, isValid: isNhs, words: 'nhs|national health' },
  UK_NINO: {
    shape: String.raw`[ABCEGHJ-PRSTW-Z][ABCEGHJ-NPRSTW-Z]( ?)\d{2}\1\d{2}\1\d{2}\1[A-D]`,
    isValid: isNino,
    isRare: (written) => written.includes(' ') && written === written.toUpperCase(),
    words: 'nino|ni|n\\.i\\.|national insurance|insurance|nat ins*',
  },
  DE_TAX_ID: {
    shape: String.raw`[1-9]\d([ /]?)\d{3}\1\d{3}\1\d{3}`,
    isValid: (compact) => idValidators.deTaxId()(compact),
    words: '*steuer*|idnr|id-nr|tin|tax id|identifikationsn*|finanzamt*',
  },
  FR_NIR: {
    shape: String.raw`[12]([ .]?)\d{2}\1(?:0[1-9]|1[0-2]|[2-9]\d)\1(?:\d{2}|2[AB])\1\d{3}\1\d{3}[ .]?\d{2}`,
    isValid: (compact) => idValidators.frNir()(compact),
    isRare: always,
    words: 'nir|secu|securite sociale|insee|vitale|assur*|immatriculation',
  },
  ES_NIF: {
    shape: String.raw`\d{1,2}([. ]?)\d{3}\1\d{3}[ -]?[A-HJ-NP-TV-Z]`,
    isValid: (compact) => compact.length === 9 && idValidators.esNif()(compact),
    isRare: (written) => /[A-Z]$/.test(written),
    words: 'dni|d\\.n\\.i\\.|nif|n\\.i\\.f\\.|documento|identidad|carnet|cedula',
  },
  ES_NIE: {
    shape: String.raw`[XYZ][ -]?\d{7}[ -]?[A-Z]`,
    isValid: (compact) => idValidators.esNie()(compact),
    isRare: always,
    words: 'nie|extranjer*',
  },
  IT_FISCAL_CODE: {
    shape: String.raw`[A-Z]{6} ?[\dL-NP-V]{2}[A-EHLMPRST][\dL-NP-V]{2} ?[A-Z][\dL-NP-V]{3}[A-Z]`,
    isValid: (compact) => idValidators.itFiscalCode()(compact),
    isRare: always,
    words: 'codice fiscale|c\\.f\\.|cf|fiscale',
  },
  NL_BSN: {
    shape: String.raw`\d{2,4}([ .]?)\d{2,3}\1\d{2,3}`,
    isValid: (compact) => compact.length === 9 && idValidators.nlBsn()(compact),
    words: 'bsn|burgerservicenummer|sofinummer|sofi nummer|burger service',
  },
  PL_PESEL: {
    shape: String.raw`\d{11}`,
    isValid: (compact) => idValidators.plPesel()(compact),
    words: 'pesel',
  },
  BR_CPF: {
    shape: String.raw`\d{3}([. ]?)\d{3}\1\d{3}[- ]?\d{2}`,
    isValid: (compact) => !isSame(compact) && idValidators.brCpf()(compact),
    isRare: (written) => written.includes('.') && written.includes('-'),
    words: 'cpf|cadastro de pessoas?',
  },
  BR_CNPJ: {
    shape: String.raw`\d{2}\.?\d{3}\.?\d{3}/?\d{4}-?\d{2}`,
    isValid: (compact) => !isSame(compact) && idValidators.brCnpj()(compact),
    isRare: (written) => written.includes('/'),
    words: 'cnpj',
  },
  CA_SIN: {
    shape: String.raw`\d{3}([ -]?)\d{3}\1\d{3}`,
    isValid: (compact) => idValidators.caSin()(compact),
    words: 'sin|social insurance|nas|assurance sociale',
  },
  AU_TFN: {
    shape: String.raw`\d{3}([ -]?)\d{3}\1\d{2,3}`,
    isValid: (compact) => idValidators.auTfn()(compact),
    words: 'tfn|tax file|tax file (?:no|number)',
  },
  AU_MEDICARE: {
    shape: String.raw`[2-6]\d{3}([ -]?)\d{5}\1\d(?:[ /-]?\d)?`,
    isValid: isMedicare,
    words: 'medicare',
  },
  IN_AADHAAR: {
    shape: String.raw`[2-9]\d{3}([ -]?)\d{4}\1\d{4}`,
    isValid: (compact) => idValidators.inAadhaar()(compact),
    words: 'aa?dh?aa?r|uid(?:ai)?|आधार*|यूआईडी',
  },
  IN_PAN: {
    shape: String.raw`[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]`,
    isValid: (compact) => idValidators.inPan()(compact),
    isRare: (written) => written === written.toUpperCase(),
    words: 'pan|pan ?card|पैन*|स्थायी खाता|permanent account',
  },
  CN_RESIDENT_ID: {
    shape: String.raw`[1-9]\d{5} ?(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]) ?\d{3}[\dX]`,
    isValid: (compact) => idValidators.cnResidentId()(compact),
    isRare: always,
    words: '身份|证件|證件|sfz|id card|居民',
  },
  JP_MY_NUMBER: {
    shape: String.raw`\d{4}([ -]?)\d{4}\1\d{4}`,
    isValid: isMyNumber,
    words: 'マイナンバー|個人番号|my ?number|個人ナンバー|マイナ',
  },
  KR_RRN: {
    shape: String.raw`\d{6}[ -]?[0-8]\d{6}`,
    isValid: isRrn,
    isRare: (written) => written.includes('-') && idValidators.krRrn()(written.replace('-', '')),
    words: '주민|주민등록번호|외국인등록번호|rrn|resident registration',
  },
  SG_NRIC_FIN: {
    shape: String.raw`[STFGM]\d{7}[A-Z]`,
    isValid: isNric,
    isRare: (written) => /[A-Z]$/.test(written),
    words: 'nric|fin|ic|uin|singpass',
  },
} as const satisfies Partial<Record<KnownEntity, IdFormat>>;

export type IdEntity = keyof typeof idFormats;

/**
 * Finds one country's numbers by shape, check digits and label. The label is optional for rare numbers. It is also
 * optional if the text is of that country (`isHome`) and the number has groups.
 */
export function createIdFinder(entity: IdEntity, isHome: boolean): Finder {
  const format: IdFormat = idFormats[entity];
  const words = tellingWords(format.words);
  const shape = new RegExp(
    String.raw`${format.shape}(?![A-Za-z\u00c0-\u024f\u1e00-\u1eff\p{N}_])(?![.,/-]\d)`,
    'iuy',
  );
  const isCalled = (scan: ScannedText, start: number, end: number) =>
    isTold(scan, start, words) || words.test(/^[^\d]*/.exec(wordsBehind(scan, end, 30))?.[0] ?? '');
  return function* findIds(scan): Generator<Finding> {
    const { text, codeStarts } = scan;
    for (const start of codeStarts) {
      shape.lastIndex = start;
      const written = shape.exec(text)?.[0];
      if (written === undefined) continue;
      const isAlone = format.isRare?.(written) === true || (isHome && isGrouped(written));
      if (!isAlone && !isCalled(scan, start, start + written.length)) continue;
      if (!format.isValid(written.replaceAll(/[^\p{L}\p{N}]/gu, '').toUpperCase())) continue;
      yield { entity, start, end: start + written.length, isConfirmed: true };
    }
  };
}
