import { createHash } from 'node:crypto';
import type { CountryCode } from 'libphonenumber-js/max';
import { type Entity, type KnownEntity, regionOf } from './entity.ts';
import { findApiKeys } from './finders/api-key.ts';
import { capitalizedRuns, type Word, type WordRun } from './finders/capitalized-runs.ts';
import { findCards } from './finders/card.ts';
import { counterBehind, tellingWords, wordsBefore, wordsBehind } from './finders/context.ts';
import { findEmails, isDomain } from './finders/email.ts';
import { findIbans } from './finders/iban.ts';
import { findIpAddresses } from './finders/ip.ts';
import { openLexicon } from './finders/name-lexicon.ts';
import { createIdFinder, type IdEntity, idFormats } from './finders/national-ids.ts';
import { findPersons } from './finders/person.ts';
import { createPhoneFinder } from './finders/phone.ts';
import { findSecrets } from './finders/secret.ts';
import { findSsns } from './finders/ssn.ts';
import type { Finder, Finding } from './finding.ts';
import { fold, separateControls, separateScripts } from './fold.ts';
import { resolveOverlaps } from './overlap.ts';
import { createOwnFinder, type OwnPattern } from './own-pattern.ts';
import { createScannedText, type ScannedText, textBefore } from './scanned-text.ts';

/** Findings are in text order and do not overlap. */
export type Detector = (text: string) => readonly Finding[];

interface DetectorOptions {
  readonly entities: readonly Entity[];
  /** The numbering plans for phone numbers without a country code. */
  readonly regions: readonly CountryCode[];
  /** User-defined kinds, searched regardless of `entities`. */
  readonly patterns?: readonly OwnPattern[] | undefined;
  readonly isAllowed: (text: string) => boolean;
}

/** Throws Error for a pattern that does not compile. */
export function createDetector({ entities, regions, patterns = [], isAllowed }: DetectorOptions): Detector {
  const finders = [
    ...patterns.map(createOwnFinder),
    ...[...new Set(entities)].map((entity) => finderOf(entity, regions)),
  ];
  const findIn = (text: string) => {
    const folded = separateScripts(fold(text));
    const scan = createScannedText(folded);
    const found = finders.flatMap((finder) => [...finder(scan)]);
    return resolveOverlaps(found, folded.text).map((finding) => unfold(finding, folded.toOriginal));
  };
  return (text) => {
    const separated = separateControls(text);
    const found = findIn(text);
    const all = separated === text ? found : resolveOverlaps([...found, ...findIn(separated)], text);
    return all.filter(({ start, end }) => !isAllowed(text.slice(start, end)));
  };
}

function unfold(finding: Finding, toOriginal: (at: number) => number): Finding {
  return { ...finding, start: toOriginal(finding.start), end: toOriginal(finding.end) };
}

function finderOf(entity: Entity, regions: readonly CountryCode[]): Finder {
  if (entity === 'PHONE_NUMBER') return createPhoneFinder(regions);
  if (isIdEntity(entity))
    return createIdFinder(
      entity,
      regions.some((region) => region === regionOf(entity)),
    );
  return isFoundAlike(entity) ? finders[entity] : () => [];
}

function isFoundAlike(entity: Entity): entity is keyof typeof finders {
  return Object.hasOwn(finders, entity);
}

function isIdEntity(entity: Entity): entity is IdEntity {
  return Object.hasOwn(idFormats, entity);
}

const finders: Readonly<Record<Exclude<KnownEntity, 'PHONE_NUMBER' | IdEntity>, Finder>> = {
  CREDIT_CARD: findCards,
  IBAN_CODE: findIbans,
  US_SSN: findSsns,
  MEDICAL_RECORD: findMedicalRecords,
  CRYPTO: findWallets,
  PRIVATE_KEY: findPrivateKeys,
  API_KEY: findApiKeys,
  SECRET: findSecrets,
  URL_CREDENTIALS: findUrlCredentials,
  EMAIL_ADDRESS: findEmails,
  IP_ADDRESS: findIpAddresses,
  MAC_ADDRESS: findMacAddresses,
  DATE_OF_BIRTH: findBirthDates,
  DOMAIN_NAME: findDomains,
  AGE: findAges,
  ZIP_CODE: findZipCodes,
  STREET_ADDRESS: findStreets,
  PERSON: findPersons,
  LOCATION: findLocations,
};

/** Longer rows of pairs are fingerprints. */
function* findMacAddresses({ text }: ScannedText): Generator<Finding> {
  for (const pattern of [pairs, quads]) {
    for (const { 0: written, index } of text.matchAll(pattern)) {
      if (/^([0f])\1([:-]\1\1)*$/i.test(written)) continue;
      yield { entity: 'MAC_ADDRESS', start: index, end: index + written.length, isConfirmed: true };
    }
  }
}

const pairs =
  /(?<![\da-zA-Z]|(?<![\da-zA-Z])[\da-fA-F]{2}[:-])[\da-fA-F]{2}([:-])(?:[\da-fA-F]{2}\1){4}[\da-fA-F]{2}(?![:-]?[\da-zA-Z])/g;
const quads = /(?<![\da-zA-Z.])[\da-fA-F]{4}\.[\da-fA-F]{4}\.[\da-fA-F]{4}(?!\.?[\da-zA-Z])/g;

/** The login in `scheme://user:password@host`; the password may contain an @. */
function* findUrlCredentials({ text }: ScannedText): Generator<Finding> {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    const start = at + 3;
    const authority = /^[^\s/?#"'<>]*/.exec(text.slice(start, start + longestAuthority))?.[0] ?? '';
    const login = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
    const colon = login.indexOf(':');
    if (!/[A-Za-z]/.test(text[at - 1] ?? '') || colon === -1 || colon === login.length - 1) continue;
    if (/[{}]|^<|:[<$]/.test(login)) continue;
    yield { entity: 'URL_CREDENTIALS', start, end: start + login.length, isConfirmed: true };
  }
}

const longestAuthority = 512;

function* findZipCodes({ text }: ScannedText): Generator<Finding> {
  for (const pattern of [labelled, american]) {
    for (const match of text.matchAll(pattern)) {
      const [whole, code = ''] = match;
      const end = match.index + whole.length;
      yield { entity: 'ZIP_CODE', start: end - code.length, end, isConfirmed: false };
    }
  }
}

const labelled =
  /(?<!\p{L})(?:zip|zip[ -]?code|post(?:al)?[ -]?code|postcode|plz|postleitzahl|code postal|código postal)(?: (?:is|was))?["']?[ :#=]{1,4}["']?(\d{3,5}(?:[- ]\d{2,4})?(?: [A-Z]{2})?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d)(?![\p{L}\d])/giu;
const american =
  /(?<!\p{L})(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY])[ ,]{1,2}(\d{5}(?:-\d{4})?)(?![\p{L}\d])/gu;

function* findAges({ text }: ScannedText): Generator<Finding> {
  for (const pattern of [before, after]) {
    for (const match of text.matchAll(pattern)) {
      const [whole, years = ''] = match;
      if (Number(years) > 120) continue;
      const start = match.index + whole.indexOf(years, pattern === after ? whole.length - years.length : 0);
      yield { entity: 'AGE', start, end: start + years.length, isConfirmed: false };
    }
  }
}

const before =
  /(?<![\d.,/-])(\d{1,3})[ -]?(?:years?|yrs?|y\/?\.?o\.?)[ -]?(?:old|of age|young)?(?=[^\p{L}\d]|$)(?<=old|age|young|y\/?\.?o\.?)/giu;
const after =
  /(?<!\p{L})(?:aged?|age is|age of|i am|i'm|he is|she is|turn|turned|turning|(?:when|while|because|as) (?:he|she|i) was)(?: only| now| just)?[ :]{1,3}(\d{1,3})(?=$|[.!?\n]|,? (?:and|but|so|years)\b)/giu;

/** Web addresses with a scheme, or a bare host under an existing top-level domain. */
function* findDomains({ text }: ScannedText): Generator<Finding> {
  for (const { 0: written, index } of text.matchAll(
    /(?<![\p{L}\p{N}@.:/_-])(?:https?:\/\/)?[\p{L}\p{N}][\p{L}\p{N}-]{0,62}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/giu,
  )) {
    const host = written.replace(/^https?:\/\//i, '');
    if (!isDomain(host) || !/\p{L}/u.test(host)) continue;
    if (!written.includes('://') && !isKnownTopLevel(host)) continue;
    yield { entity: 'DOMAIN_NAME', start: index, end: index + written.length, isConfirmed: false };
  }
}

/** Without a scheme, `end.So` is a missing space and `main.rs` a file. */
function isKnownTopLevel(host: string): boolean {
  return (
    /^www\./i.test(host) ||
    /\.(?:com|org|net|edu|gov|mil|int|info|biz|eu|uk|de|fr|io|ai|app|dev)$/i.test(host)
  );
}

/** A truncated PEM block extends to the end of the text. */
function* findPrivateKeys({ text }: ScannedText): Generator<Finding> {
  for (let at = text.indexOf(opener); at !== -1; ) {
    const head = /^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/.exec(text.slice(at, at + 90))?.[0];
    if (head === undefined) {
      at = text.indexOf(opener, at + opener.length);
      continue;
    }
    const end = endOfBlock(text, at + head.length);
    yield { entity: 'PRIVATE_KEY', start: at, end, isConfirmed: true };
    at = text.indexOf(opener, end);
  }
}

const opener = '-----BEGIN ';

function endOfBlock(text: string, from: number): number {
  const closer = text.indexOf('-----END ', from);
  if (closer === -1) return text.length;
  const line = /^-----END [A-Z0-9 ]{0,60}-----/.exec(text.slice(closer, closer + 80))?.[0];
  return closer + (line ?? '-----END ').length;
}

/** Requires a label, because each clinic has its own number format. */
function* findMedicalRecords(scan: ScannedText): Generator<Finding> {
  const { text, codeStarts } = scan;
  for (const start of codeStarts) {
    code.lastIndex = start;
    const written = code.exec(text)?.[0];
    if (
      written === undefined ||
      counterBehind.test(text.slice(start + written.length, start + written.length + 5))
    )
      continue;
    if (!recordBefore.test(wordsBefore(scan, start, 60))) continue;
    yield { entity: 'MEDICAL_RECORD', start, end: start + written.length, isConfirmed: true };
  }
}

const code =
  /(?:[A-Za-z]{1,4}-?|[A-Z]{1,4} )?(?:\d{4,12}(?:[ -]\d{1,8}){0,3}|\d{1,3}(?:[ -]\d{1,8}){1,3})(?!\d|[.,:/-]\d|[A-Za-z\u00c0-\u024f\u1e00-\u1eff]| ?[%€$£¥₹年月])/uy;

const patients =
  "patient|patients?['’]s?|patiente|*patienten*|hospital|medical|clinic*|paciente*|paziente|患者|病人|मरीज|रोगी|पेशेंट|अस्पताल";
const records =
  'id|no|nr|num|number|nummer|file|record*|chart*|akte*|dossier*|numero*|n\\.?[°º]|identifiant*|identificador|historia*|expediente*|cartella|' +
  '编号|号码|番号|संख्या|आईडी|क्रमांक|नंबर';
const own =
  'mrn|m\\.r\\.n\\.?|medical record*|health record*|chart (?:no|number)|patienten(?:nummer*|nr|id|akte)|fallnummer*|fall-?(?:nr|id)|krankenakte*|aufnahmenummer*|krankenblatt*|' +
  'dossier (?:medical|patient)|ipp|iep|histori[ae]l? clinic[ao]*|n(?:[º°]|[.]º|um|umero)? ?(?:de )?historia*|expediente (?:clinico|medico)|nhc|n\\.?h\\.?c\\.?|' +
  '病历*|病歷*|住院号|住院號|病案*|门诊号|門診號|就诊号|就诊卡*|カルテ*|診察券*|診察番号|यूएचआईडी|uhid|ओपीडी|cartella clinica';
const [patient, record] = [tellingWords(patients).source, tellingWords(records).source];
const recordBefore = new RegExp(
  `(?:${tellingWords(own).source}|${patient}[^\\d]{0,12}?${record}|${record}[^\\d]{0,12}?${patient})[^\\d,;]{0,20}$`,
  'iu',
);

/** A house number and a street word in one of many languages, flats, boxes. */
function* findStreets({ text }: ScannedText): Generator<Finding> {
  for (const pattern of [numberFirst, numberLast, between, unit, military]) {
    for (const { 0: written, index } of text.matchAll(pattern)) {
      yield { entity: 'STREET_ADDRESS', start: index, end: index + written.length, isConfirmed: false };
    }
  }
}

const name = "\\p{Lu}[\\p{L}\\p{M}'’.-]{0,30}";
const street =
  '(?:street|str|st|avenue|ave|av|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|place|pl|square|sq|terrace|way|highway|hwy|parkway|pkwy|crescent|close|row|walk|mews|alley|circle|trail|pass|bypass|bridge|turnpike|crossroad|extension)s?';
const suffixed =
  '\\p{L}{2,30}(?:stra(?:ß|ss|sz)e|str\\.|stra?at|gasse|weg|platz|allee|gatan?|gade|v[äe]gen|vegen|veien?|vej|gata|plein|laan|kade|dijk|katu|tie|kuja|polku|tänav|braut|götu|stíg(?:ur)?|stræde|bakken|allé|utca|tér|ulice)';
const prefixed =
  '(?:ul\\.|al\\.|rue|rua|via|viale|piazza|calle|avenida|avda\\.?|paseo|plaza|camino|carrer|avenue|boulevard|chemin|place|quai|ulica|trg|av\\.|strada|corso|largo|travessa|praça)';

/** 12 Main Street, 31 Rue de Tanger. */
const numberFirst = new RegExp(
  `(?<![\\p{L}\\d.,/-])\\d{1,5}[A-Za-z]?(?:,? \\d{1,5})?,? (?:${name} ){1,4}${street}(?![\\p{L}\\d])\\.?(?:,? ?(?:suite|apt\\.?|unit|#) ?\\d{1,5})?|(?<![\\p{L}\\d])\\d{1,5},? ${prefixed} (?:[\\p{L}'’-]{1,20} ){0,4}[\\p{L}'’-]{1,30}`,
  'giu',
);
/** Hauptstraße 12, Via Roma 5, Baker Street 221b. */
const numberLast = new RegExp(
  `(?<![\\p{L}\\d])(?:\\d{1,5},? )?(?:${suffixed}|${prefixed} (?:[\\p{L}'’.-]{1,20} ){0,4}[\\p{L}'’.-]{1,30}|(?:${name} ){1,3}(?:u\\.|út|utca|tér|${street}))\\.? \\d{1,5}[A-Za-z]?(?![\\p{L}\\d])`,
  'giu',
);
/** 4844 Søndergade 52, at the end of a line or before a flat. */
const between = new RegExp(
  `(?<![\\p{L}\\d.,/-])\\d{2,5} (?:${name} ){1,3}\\d{1,4}(?=\\s*(?:,|\\n|$|suite|apt))`,
  'gu',
);
const unit =
  /(?<!\p{L})(?:suite|apt\.?|apartment|flat|unit) ?#?\d{1,5}[a-z]?(?![\p{L}\d])|(?<!\p{L})(?:p\.? ?o\.? box|postbox|postfach|psc|box) \d{1,6}(?!\d)/giu;
const military = /(?<!\p{L})(?:apo|fpo|dpo) (?:aa|ae|ap) \d{5}(?!\d)/giu;

/** Listed place names, and unknown capitalized words after phrases such as "moved to". */
function* findLocations(scan: ScannedText): Generator<Finding> {
  const { text } = scan;
  if (!/\p{L}/u.test(text)) return;
  const lexicon = openLexicon();
  for (const run of capitalizedRuns(scan, lexicon)) {
    const words = followsLocationPhrase(textBefore(text, run[0].start, 40)) ? locationPart(run) : [];
    if (words.length > 0) yield toFinding(words);
    else yield* findListed(run, (words) => lexicon.kindOf(words) === 'place');
  }
}

function followsLocationPhrase(before: string): boolean {
  return /\b(?:originally from|i'm from|i am from|comes? from|moved (?:here )?(?:from|to)|(?:flew|fly|flying|travel|travell?ing|trip|relocat(?:e|ed|ing)) to|born in|living in|lives? in|based in|located in|visit(?:ing|ed)?|city of|resident of|citizen of|grew up in|in|where:) $/i.test(
    before,
  );
}

function locationPart(run: WordRun): readonly Word[] {
  const end = run.findIndex(({ kind }) => kind === 'common' || kind === 'organization');
  return end === -1 ? run : run.slice(0, end);
}

function* findListed(run: WordRun, isListed: (words: string) => boolean): Generator<Finding> {
  const isName = (words: string) => words.length > 2 && isListed(words);
  for (let first = 0; first < run.length; ) {
    let last = run.length;
    while (last > first && !isName(joinWords(run.slice(first, last)))) last -= 1;
    if (last > first) yield toFinding(run.slice(first, last));
    first = Math.max(last, first + 1);
  }
}

function joinWords(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(' ');
}

function toFinding(words: readonly Word[]): Finding {
  return {
    entity: 'LOCATION',
    start: words[0]?.start ?? 0,
    end: words.at(-1)?.end ?? 0,
    isConfirmed: false,
  };
}

/** Bitcoin-like and Tron addresses by checksum, Ethereum-like ones by shape. */
function* findWallets({ text }: ScannedText): Generator<Finding> {
  for (const { 0: written, index } of text.matchAll(wallet)) {
    const isAddress = written.startsWith('0x') || isBech32(written.toLowerCase()) || isBase58Check(written);
    if (isAddress) yield { entity: 'CRYPTO', start: index, end: index + written.length, isConfirmed: true };
  }
}

const wallet =
  /(?<![A-Za-z\u00c0-\u024f\u1e00-\u1eff\p{N}_])(?:0x[\da-fA-F]{40}|[13DLMTA9X][1-9A-HJ-NP-Za-km-z]{25,34}|(?:bc1|BC1|ltc1|tb1)[\dA-Za-z]{8,87})(?![A-Za-z\u00c0-\u024f\u1e00-\u1eff\p{N}_])/gu;

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** 21 bytes and the first four of their double digest. */
function isBase58Check(written: string): boolean {
  let value = 0n;
  for (const character of written) {
    const digit = base58.indexOf(character);
    if (digit === -1) return false;
    value = value * 58n + BigInt(digit);
  }
  const hex = value.toString(16);
  if (hex.length > 50) return false;
  const bytes = Buffer.from(hex.padStart(50, '0'), 'hex');
  const digest = sha256(sha256(bytes.subarray(0, 21)));
  return digest.subarray(0, 4).equals(bytes.subarray(21));
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

const bech32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/** The checksum of BIP 173 or BIP 350. */
function isBech32(written: string): boolean {
  const split = written.lastIndexOf('1');
  const prefix = [...written.slice(0, split)].map((character) => character.charCodeAt(0));
  const data = [...written.slice(split + 1)].map((character) => bech32.indexOf(character));
  if (prefix.length === 0 || data.length < 7 || data.includes(-1)) return false;
  const values = [...prefix.map((code) => code >> 5), 0, ...prefix.map((code) => code & 31), ...data];
  const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  const checksum = values.reduce((sum, value) => {
    const shifted = ((sum & 0x1ffffff) << 5) ^ value;
    return generators.reduce(
      (all, generator, bit) => ((sum >> (25 + bit)) & 1 ? all ^ generator : all),
      shifted,
    );
  }, 1);
  return checksum === 1 || checksum === 0x2bc830a3;
}

/** Full dates of living people near words about a birth. */
function* findBirthDates(scan: ScannedText): Generator<Finding> {
  const { text, digits } = scan;
  if (digits.starts.length === 0) return;
  for (const { 0: written, index } of text.matchAll(anyDate)) {
    const end = index + written.length;
    if (rangeBehind.test(text.slice(end, end + 12))) continue;
    const before = wordsBefore(scan, index, 70);
    const behind = /^[^\d]*/.exec(wordsBehind(scan, end, 40))?.[0] ?? '';
    if (otherDay.test(before) || otherDay.test(behind) || isHistoric(written)) continue;
    if (!birthBefore.test(before) && !birthWords.test(behind) && !bornBehind.test(behind)) continue;
    yield { entity: 'DATE_OF_BIRTH', start: index, end, isConfirmed: true };
  }
}

/** Dates before 1900 are historic. */
function isHistoric(written: string): boolean {
  return /(?:^|\D)1[0-8]\d\d(?:\D|$)/.test(written);
}

const births =
  'born|d\\.?o\\.?b\\.?|dates? of birth|birth ?dates?|birth ?days?|b-?day|birth(?= ?[:=])|came into (?:the|this) world|' +
  'geboren*|geburt|geburtsdat*|geburtstag|geburtstage|geburtstags|geburtstermin*|geb(?= ?[.:]| am)|geb\\.?-?(?:datum|dat|am)|zur welt|[\\(,;] ?\\*|wiegenfest|' +
  'nee?s?|ne\\(e\\)|naissance|naiss|naquit|naquirent|nait|anniversaire|anniv|ddn|(?:vu|voit) le jour|venue? au monde|' +
  'nac[ií]|naci[oó]|nacieron|nacid[oa]s?|nacimiento|nac|cumpleaños|cumple|cumples|cumplen? anos|cumplio anos|f\\.? ?nac\\.?|fnac|vino al mundo|llego al mundo|nascid[oa]|nasceu|nasci|nascimento|aniversario|' +
  'data di nascita|nat[oa] il|nat[oa]|compleanno|födelsedat*|född|geboortedat*|urodzon[ya]|urodzenia|urodził*|' +
  '出生(?!率|人口|数|數)|生日|生于|生於|誕生|诞生|生年月日|誕生日|生まれ|うまれ|産まれ|生を受け|출생|생년월일|생일|태어|' +
  'जन्म(?! दर)[\\u0900-\\u097f]*|पैदा|पैदाइश|पैदायश|बर्थडे|बर्थ ?डे|बर्थ ?डेट|डेट ऑफ बर्थ|डीओबी|डी\\.ओ\\.बी\\.?|janm*|paida|родил*|рожден*';
const birthBefore = tellingWords(births, '[^\\d]{0,45}$');
const birthWords = tellingWords(births);
const bornBehind = /^ ?[,)]? ?生(?!\p{sc=Hani})|^ ?生(?:的|人)/u;
const rangeBehind = /^ ?(?:-|~|to|till|until|through|and|bis|und|au|et|al|hasta|至|到|から|से) ?\d/iu;
const otherDay = tellingWords(
  'part(?:y|ies)|celebration|dinner|wedding|marriage|company|firm|start-?up*|sales?|released?|came out|*aktion|promo*|oferta*|*feier|*fete|hochzeit*|firma|unternehmen|verein|firmen*|fete|mariage|societe|entreprise|' +
    'fiesta|boda|bodas|matrimonio|empresa|compañia|conference|konferenz|' +
    'セール|特惠|छूट|結婚|结婚|パーティー|会社|企業|公司|企业|派对|聚会|शादी|विवाह|पार्टी|कंपनी',
);

const months =
  '(?:jan|feb|fév|fev|mar|mär|apr|avr|abr|may|mai|maj|jun|juin|juil|jul|aug|août|aout|ago|sep|set|oct|okt|out|ott|nov|dec|dez|déc|dic|ene|gen|gennaio|lug|giu|mag|' +
  'जनवरी|फरवरी|फ़रवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|सितम्बर|अक्टूबर|अक्तूबर|नवंबर|नवम्बर|दिसंबर|दिसम्बर)[\\p{L}\\p{M}]{0,9}\\.?';
const dates = [
  ...['-', '\\.', '/'].flatMap((sign) => [
    `\\d{4}${sign} ?\\d{1,2}${sign} ?\\d{1,2}`,
    `\\d{1,2} ?${sign} ?\\d{1,2} ?${sign} ?(?:\\d{4}|\\d{2})`,
  ]),
  `\\d{1,2}(?:st|nd|rd|th|er|º|ª|\\.)?[ -](?:(?:of|de) |d['’])?${months}(?: of| de|,)?[ -]\\d{4}`,
  `${months} \\d{1,2}(?:st|nd|rd|th)?,? \\d{4}`,
  '\\d{4} ?[年년] ?\\d{1,2} ?[月월] ?\\d{1,2}(?: ?[日号號일])?',
  '(?:明治|大正|昭和|平成|令和) ?(?:\\d{1,2}|元) ?年 ?\\d{1,2} ?月 ?\\d{1,2}(?: ?日)?',
  '[MTSHR]\\d{1,2}[./-]\\d{1,2}[./-]\\d{1,2}',
  '(?:19|20)\\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\\d|3[01])',
  '(?:0[1-9]|[12]\\d|3[01])(?:0[1-9]|1[0-2])(?:19|20)\\d{2}',
  '(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\\d|3[01])(?:19|20)\\d{2}',
];
const date = `(?:${dates.join('|')})(?!\\d|[-./]\\d)`;
const anyDate = new RegExp(`(?<![A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff\\d])(?<!\\d[-./])${date}`, 'giu');
