import { isIPv4 } from 'node:net';
import type { CountryCode } from 'libphonenumber-js/max';
import type { Finder, Finding } from '../finding.ts';
import { libraries } from '../lazy-libraries.ts';
import type { DigitGroups, ScannedText } from '../scanned-text.ts';
import { counterBehind, tellingWords, wordsBefore, wordsBehind } from './context.ts';

/**
 * Finds international numbers and numbers of the regions' plans, by default of countries that the script suggests.
 * Numbers of other plans need a distinctive shape or a label.
 */
export function createPhoneFinder(regions: readonly CountryCode[]): Finder {
  return function* findPhones(scan: ScannedText): Generator<Finding> {
    const { text, digits } = scan;
    const isStated = regions.length > 0;
    const book = createPhoneBook(isStated ? regions : likelyRegions(text));
    for (let first = 0; first < digits.starts.length; ) {
      const found = findLongest(first, { scan, text, digits, book, isStated });
      if (found !== undefined) yield found.finding;
      first = found === undefined ? first + 1 : found.last + 1;
    }
  };
}

function likelyRegions(text: string): readonly CountryCode[] {
  if (/[\p{sc=Hira}\p{sc=Kana}]/u.test(text)) return ['JP'];
  if (/\p{sc=Hang}/u.test(text)) return ['KR'];
  if (/\p{sc=Hani}/u.test(text)) return ['CN', 'JP', 'TW', 'HK'];
  if (/[\u0900-\u097f]/u.test(text)) return ['IN', 'NP'];
  if (/\p{sc=Cyrl}/u.test(text)) return ['RU', 'UA'];
  return ['US', 'GB', 'DE', 'FR', 'ES', 'IT', 'NL', 'BR', 'MX', 'AU', 'IN', 'AT', 'CH', 'BE', 'PL', 'PT'];
}

interface Search {
  readonly scan: ScannedText;
  readonly text: string;
  readonly digits: DigitGroups;
  readonly book: PhoneBook;
  readonly isStated: boolean;
}

interface NumberContext extends Search {
  readonly isInRow: boolean;
}

interface FoundNumber {
  readonly finding: Finding;
  readonly last: number;
}

const maxGroups = 12;
const maxDigits = 17;
const maxSingles = 2;
/** E.164 has at most 15 digits, one to three of them for the country. */
const maxNationalDigits = 14;

function findLongest(first: number, search: Search): FoundNumber | undefined {
  const { text, digits } = search;
  const start = startOfNumber(text, digits.starts[first] ?? 0);
  if (start === undefined) return undefined;
  const isInRow = isInsideRow(first, text, digits);
  if (isInRow && !mayBeDistinctive(text.slice(start, digits.ends[first]))) return undefined;
  for (const last of possibleLastGroups(first, text, digits).toReversed()) {
    const finding = toFinding(readPhoneShape(text, start, digits.ends[last] ?? 0), { ...search, isInRow });
    if (finding !== undefined) return { finding, last };
  }
  return undefined;
}

/** The same separator before and after a group means that a number would begin earlier. */
function isInsideRow(first: number, text: string, { starts, ends }: DigitGroups): boolean {
  if (first === 0) return false;
  const before = text.slice(ends[first - 1], starts[first]);
  return isSeparator(before) && before === text.slice(ends[first], starts[first + 1]);
}

function mayBeDistinctive(head: string): boolean {
  return /^[0(+]|^\d{3}$/.test(head);
}

/** Includes a plus and an opening bracket; undefined if the digits belong to something else. */
function startOfNumber(text: string, at: number): number | undefined {
  const lead = /(?:\+\(?|\(\+?)$/.exec(text.slice(Math.max(0, at - 3), at))?.[0] ?? '';
  const start = at - lead.length;
  return /[A-Za-z\u00c0-\u024f\u1e00-\u1eff\p{N}_@#$€£¥=/.-]/u.test(text[start - 1] ?? '') &&
    !isAllowedPrefix(text, start)
    ? undefined
    : start;
}

function isAllowedPrefix(text: string, start: number): boolean {
  return /(?:[\p{L}\s]-|tel=|phone=|mobile=|(?<!\p{L})(?:tel|fax|phone|mobile|mob|cell|handy|ph)[.:]?|\p{L}\/|\p{L}\.)$/iu.test(
    text.slice(Math.max(0, start - 8), start),
  );
}

function possibleLastGroups(first: number, text: string, { starts, ends }: DigitGroups): number[] {
  const lasts: number[] = [];
  let count = 0;
  let singles = 0;
  let breaks = 0;
  for (let group = first; group < Math.min(starts.length, first + maxGroups); group++) {
    const between = text.slice(ends[group - 1] ?? 0, starts[group]);
    if (group > first && lineEnd.test(between)) breaks += 1;
    else if (group > first && !isSeparator(between)) break;
    if (breaks > 1) break;
    count += (ends[group] ?? 0) - (starts[group] ?? 0);
    if (ends[group] === (starts[group] ?? 0) + 1) singles += 1;
    // A number is spelled digit by digit throughout, or hardly at all.
    if (count > maxDigits || (singles > maxSingles && singles < group - first + 1)) break;
    if (count >= 7 && (singles <= maxSingles || count >= 9)) lasts.push(group);
  }
  return lasts;
}

const lineEnd = /^ ?[-./)]?\r?\n ?$/;

function isSeparator(between: string): boolean {
  return between.length <= 3 && /^(?: ?[-./] ?| {1,2}|\)|\) ?[-.]? ?| ?\()$/.test(between);
}

function toFinding(
  shape: PhoneShape | undefined,
  { scan, text, book, isStated, isInRow }: NumberContext,
): Finding | undefined {
  if (shape === undefined) return undefined;
  const finding = (isConfirmed: boolean): Finding => ({
    entity: 'PHONE_NUMBER',
    start: shape.start,
    end: shape.end,
    isConfirmed,
  });
  if (shape.isInternational) {
    if (book.isValid(shape.dialled)) return finding(true);
    if (/\D\d$/.test(shape.written)) return undefined;
    if (shape.written.startsWith('+')) return shape.count >= 8 ? finding(false) : undefined;
  }
  if (shape.count > maxNationalDigits || (isInRow && !shape.isDistinctive)) return undefined;
  const isValid = () => book.isValid(shape.digits);
  const label = phoneLabelOf(scan, shape);
  // A column of numbers and a row of digits look the same.
  if ((shape.isSplit && !shape.isDistinctive) || shape.isSpelled)
    return label !== undefined && label !== 'other' ? finding(isValid()) : undefined;
  if (label === 'stated' || (label === 'beside' && shape.isGrouped)) return finding(isValid());
  if (label === 'beside' && (shape.digits.length >= 9 || isValid())) return finding(isValid());
  if (label === 'near' && isThousands(shape.written)) return undefined;
  if (label === 'near' && (shape.isPlausible || shape.digits.length >= 9) && isValid()) return finding(true);
  if (isPartOfCode(text, shape.start)) return undefined;
  if (shape.isDistinctive) return finding(shape.isPlausible && isValid());
  // Configured regions mean that their numbers are wanted even if they may be something else.
  const mayStandAlone =
    shape.isPlausible ||
    (shape.isGrouped
      ? isStated && !beginsWithYear(shape.written)
      : label !== 'other' && book.isMobile(shape.digits));
  return mayStandAlone && isValid() ? finding(true) : undefined;
}

function isThousands(written: string): boolean {
  return /^[1-9]\d{0,2}(?:[ .]\d{3})+$/.test(written);
}

function isPartOfCode(text: string, start: number): boolean {
  return /(?:[A-Z]\d|\d[A-Z])[A-Z\d]*[ -]$/.test(text.slice(Math.max(0, start - 12), start));
}

interface PhoneBook {
  /** Without a country code, checks the plans of the regions. */
  isValid(dialled: string): boolean;
  /** Whether it is a mobile number of a region where these are written without spaces and labels. */
  isMobile(dialled: string): boolean;
}

/** A lookup in one plan takes 50 µs. After this many in one text, shape alone decides. */
const maxLookups = 10_000;

function createPhoneBook(regions: readonly CountryCode[]): PhoneBook {
  const known = new Map<string, boolean>();
  let lookups = 0;
  const isValidIn = (dialled: string, defaultCountry: CountryCode) => {
    lookups += 1;
    const { parsePhoneNumberFromString } = libraries.phones();
    return parsePhoneNumberFromString(dialled, { defaultCountry, extract: false })?.isValid() ?? false;
  };
  return {
    isValid: (dialled) => {
      const answer = known.get(dialled);
      if (answer !== undefined || lookups >= maxLookups) return answer ?? true;
      const candidates = dialled.startsWith('+') ? regions.slice(0, 1) : regions;
      const isValid = candidates.some((region) => isValidIn(dialled, region));
      known.set(dialled, isValid);
      return isValid;
    },
    isMobile: (dialled) => regions.some((region) => bareMobiles[region]?.test(dialled) === true),
  };
}

const bareMobiles: Readonly<Partial<Record<CountryCode, RegExp>>> = {
  CN: /^1[3-9]\d{9}$/,
  JP: /^0[5789]0\d{8}$/,
  KR: /^010\d{8}$/,
  IN: /^[6-9]\d{9}$/,
  DE: /^01(?:5\d|6[0-3]|7\d)\d{7,8}$/,
  FR: /^0[67]\d{8}$/,
  GB: /^07\d{9}$/,
};

/**
 * How strongly the words indicate a phone number: with a colon, directly beside it, or elsewhere in the sentence.
 * `other`: the nearest word names something else.
 */
type PhoneLabel = 'stated' | 'beside' | 'near' | 'other' | undefined;

function phoneLabelOf(scan: ScannedText, { start, end }: PhoneShape): PhoneLabel {
  if (counterBehind.test(scan.plain.slice(end, end + 5))) return 'other';
  const before = wordsBefore(scan, start, 60);
  if (otherBefore.test(before)) return 'other';
  if (besideBefore.test(before)) return /[:=]\s{0,2}["']?$/.test(before) ? 'stated' : 'beside';
  const behind = wordsBehind(scan, end, 40);
  if (besideBehind.test(behind)) return 'beside';
  return nearBefore.test(before) || nearWords.test(/^[^\d@]*/.exec(behind)?.[0] ?? '') ? 'near' : undefined;
}

const phones =
  '(?:tele|smart|i)?phones?|tel|tels|tlf|tlfno|tfno|tfn|telefon*|telefono*|telefone*|telephon*|telefoon*|mobile|mobiles|mobil|mobilnummer*|movil*|mobiel*|mob|' +
  'cell|cells|cellphone|cellular|cel|celu|celular*|handy*|fax*|telefax*|facsimil|telecopie*|portables?|port|fixe|fijo|fijos|festnetz*|*rufnummer*|durchwahl*|*hotline|helpline|landline*|' +
  'switchboard|front desk|voicemail|answering|whats ?app|wa|signal|viber|telegram|sms|standard|numero vert|numero gratuito|toll free|' +
  '电话|電話|手机|手機|座机|座機|热线|熱線|传真|傳真|號碼|号码|致电|致電|拨|撥|打给|打給|短信|簡訊|微信|联系|联络|聯絡|聯繫|' +
  '携帯|ケータイ|けいたい|スマホ|ファックス|ファクス|フリーダイヤル|ダイヤル|連絡先|直通|ショートメール|テル|代表|自宅|전화|휴대폰|핸드폰|연락처|팩스|' +
  'फोन*|मोबाइल*|मोबाईल*|दूरभाष*|मो\\.?|मोब|व्हाट्सएप|व्हाट्सऐप|व्हाट्सप|वाट्सऐप|वाट्सएप|हेल्पलाइन*|फैक्स|टेलीफोन*|एसएमएस|लैंडलाइन|टोल फ्री|हॉटलाइन|sampark';
const calls =
  'call|calls|called|calling|dial|dialled|dialed|texted|texting|ruf|rufe|rufen|anruf*|angerufen|anzurufen|*ruckruf*|zuruckruf*|telefonier*|telefonisch*|simst|simsen|' +
  'appele*|rappel*|joignable*|joindre|coup de fil|telephonez|telephoner|llamad|llamadme|llamadnos|llamam*|llame*|llamar*|llamo|telefonea*|chiamami|かけ|電話|कॉल*|मिस्ड कॉल|call kar(?:o|na)?|phone kar*';
const verbs =
  'ring|rings|text|texts|contact*|reach|reached|messages? (?:to|at|on)|registered(?: number)?|desk|erreichbar*|erreich*|kontakt*|notfallkontakt|klingel|melde|meldet|melden|' +
  'joign*|texto|textos|llama|llamas|toque|marca*|marque|localiza*|localice*|atencion|avisa*|recado|ligue|chiama*|bel|打|コール|संपर्क|सम्पर्क|मिला|रिंग';
const whose = '(?: (?:new|old|work|home|direct|private|personal|emergency|contact|neue|alte|private))?';
const numbers =
  `(?:my|her|his|our|your|their|the)${whose} (?:number|digits|line)|(?:mein|dein|unser|ihr|sein)e?${whose} (?:nummer|nr)|(?:mon|ton|son|notre|votre|leur) (?:numero|num|06|07)(?! d)|numero(?! d)|` +
  '(?:mi|tu|su|nuestro) (?:numero|nº)(?! d)|(?:私|母|父|妻|夫|彼|彼女|会社)?の番号|番号変|我的号|मेरा (?:नंबर|नं)|(?:का|की|के|मेरे|हमारा) (?:नंबर|नम्बर|नं)|नंबर|नम्बर|' +
  "emergency contact|contact d['’]urgence|紧急联系|緊急連絡|お問い合わせ|問合せ";
const little =
  "no|nr|num|number|nummer|numero|n°|nº|code|is|it['’]s|are|was|at|on|to|me|us|him|her|them|the|or|via|under|unter|auf|an|mich|bitte|uns|ist|lautet|privat|mobil|dienstl|" +
  "est|c['’]est|au|le|la|les|sur|moi|nous|es|el|al|en|del?|du|svp|stp|pls|please|by|phone|hai|now|try|24/7|casa|home|work|office|domicile|domicilio|maison|bureau|oficina|buro|prive|perso|pro|cliente|urgence|emergencia|urgencia|mom|mum|mama|maman|mother|dad|die|der|das|den|folgende|jetzt|noch|immer|nouveau|nuevo|neue|new|old|pe|par|" +
  '番号|號|号|码|碼|同号|是|为|為|は|を|に|へ|まで|が|と|の|ね|発|到|至|请|請|母亲|父亲|母|父|這支|这个|है|पर|को|को भी|से|करें|करो|करना|कर|दो|दें|ये|वो|लो|नंबर|नम्बर|नं\\.?|न\\.?|संख्या|सूत्र|आईडी|पिताजी|मम्मी|번호|은|는';
const others =
  'order|invoice|ticket|case|account|tracking|reference|ref|id|version|license|licence|passport|card|zip|sku|serial|isbn|ean|upc|gtin|lot|batch|model|po|pnr|booking|build|' +
  '*rechnung*|*bestell*|kundennummer|vertrag*|aktenzeichen|az|artikel*|auftrag*|vorgang*|sendung*|charge|zahler*|konto*|' +
  'commande*|facture*|reference|contrat*|dossier|colis|siren|siret|lot|pedido*|factura*|referencia*|expediente*|contrato*|dni|cuenta*|guia|radicado|folio|lote|' +
  '订单*|訂單|发票*|發票|编号|編號|编码|工单|合同|卡号|账号|帳號|批次|序列|单号|單號|条码|条形码|qq|群|注文|顧客|契約|請求|伝票|型番|カード|口座|マイナンバー|個人|暗証|管理|製造|法人|お客様|会員|追跡|' +
  'आधार|पैन|पिन|ऑर्डर|बिल|खाता|खाते|ग्राहक|टिकट|ट्रेन|कार्ड|चालान|अनुबंध|रसीद|पीएनआर|चेक|गाड़ी|बैच|रोल|क्रमांक|पंजीकरण|शिकायत';

const gap = `(?:[ \\t"'’():;,.=#>*→<\\[\\]｜|、：?-]|\\n|\\p{L}{2,20}nummer(?!\\p{L})|${tellingWords(little).source}){0,12}$`;
const besideBefore = tellingWords(`${phones}|${calls}|${verbs}|${numbers}`, gap);
const nearBefore = tellingWords(`${phones}|${calls}`, '[^\\d@]{0,50}$');
const otherBefore = tellingWords(
  others,
  '[^\\n\\p{L}]{0,4}(?:no\\.?|number|num|nr\\.?|nummer|is|#|:|号|番号|号码|नंबर|संख्या|क्र\\.?|सं\\.?)?[^\\n\\p{L}]{0,4}$',
);
const besideBehind =
  /^[ \-,(]{0,3}(?:phone|mobile|cell|fax|office|desk|home|work|tel|handy|mobil)(?!\p{L})/iu;
const nearWords = tellingWords(`${phones}|${calls}|${numbers}`);

interface PhoneShape {
  readonly start: number;
  readonly end: number;
  readonly written: string;
  /** Digits, with a plus before a country code. */
  readonly dialled: string;
  readonly digits: string;
  readonly count: number;
  readonly isInternational: boolean;
  readonly isGrouped: boolean;
  readonly isSpelled: boolean;
  readonly isSplit: boolean;
  /** Grouped as only phone numbers are, in any numbering plan. */
  readonly isDistinctive: boolean;
  /** Whether the groups may be a national number: no other identifier begins so. */
  readonly isPlausible: boolean;
}

function readPhoneShape(text: string, start: number, end: number): PhoneShape | undefined {
  const whole = text.slice(start, end);
  const written = whole.includes('(') && !whole.includes(')') ? whole.replace('(', '') : whole;
  const from = end - written.length;
  const sizes = written.match(/\d+/g)?.map(({ length }) => length) ?? [];
  extensionBehind.lastIndex = end;
  const extension = extensionBehind.exec(text)?.[0] ?? '';
  const after = text.slice(end + extension.length, end + extension.length + 2);
  if (isNotPhone(written, sizes) || /^(?:[A-Za-z\u00c0-\u024f\u1e00-\u1eff_]|[-/:.]\d| ?=)/u.test(after))
    return undefined;
  const dialled = dialledDigits(written);
  return {
    start: from,
    end: end + extension.length,
    written,
    dialled,
    digits: written.replace('(0)', '0').replace(/\D/g, ''),
    count: dialled.replace('+', '').length,
    isInternational: dialled.startsWith('+'),
    isGrouped: sizes.length > 1,
    isSpelled: sizes.every((size) => size === 1),
    isSplit: written.includes('\n'),
    isDistinctive: isDistinctive(written.replace(/\s*\n\s*/, ' ')),
    isPlausible: sizes.length > 1 && isPlausible(written.replace(/\s*\n\s*/, ' ')),
  };
}

const extensionBehind =
  /(?: ?(?:x|ext\.? ?|extension |转 ?|轉 ?|内線 ?)\d{1,6}|(?<=\d{7,8})-\d{3,4})(?!\d)/iuy;

function dialledDigits(written: string): string {
  const digits = written.replace('(0)', '').replace(/[^\d+]/g, '');
  return written.startsWith('+') || written.startsWith('(+')
    ? digits
    : digits.replace(/^(?:00|011)(?=[1-9])/, '+');
}

function isNotPhone(written: string, sizes: readonly number[]): boolean {
  // A decimal number has no leading zero.
  if (isIPv4(written) || /^\D*(?:[1-9]\d*|0)\.\d+$/.test(written)) return true;
  if (/^[1-9]\d{0,2}(?:([ .])\d{3})(?:\1\d{3})*(?<=000)$/.test(written)) return true;
  if (sizes.length >= 9 && sizes.every((size) => size === 1)) return false;
  if (/^(?:19|20)\d\d([-./])[01]?\d\1[0-3]?\d/.test(written)) return true;
  if (/^[0-3]?\d([-./])[0-3]?\d\1(?:19|20)\d\d$/.test(written)) return true;
  if (/^(?:19|20)\d\d ?- ?(?:19|20)\d\d$/.test(written)) return true;
  const singles = sizes.filter((size) => size === 1).length;
  // German extensions: 0711/216-0.
  return singles > 2 || ((sizes.at(-1) ?? 0) < 2 && !/^(?:\+|.*\d\d-\d$)/.test(written));
}

/** 555-123-4567 and the like; 07071 29-0; (72) 754-186; 0490 75 40 81; 03.93.92.16.85; 655 44 33 22; 91 123 45 67. */
function isDistinctive(written: string): boolean {
  return (
    /^[679]\d\d([ .-])\d\d\1\d\d\1\d\d$|^9[1-8] \d{3} \d\d \d\d$/.test(written) ||
    directLine.test(written) ||
    /^1[-. ](?:\([2-9]\d\d\) ?|[2-9]\d\d[-. ])\d{3}[-. ]\d{4}$/.test(written) ||
    /^\(?[2-9]\d\d(?:\) ?|[-. ])\d{3}[-. ]\d{4}$/.test(written) ||
    /^\(0?\d{1,4}\) ?\d{2,4}[- ]\d{2,4}(?:[- ]\d{2,4})?$/.test(written) ||
    /^0[1-9]\d{0,3}([ .])\d{2,4}(?:\1\d{2,4}){1,3}$/.test(written)
  );
}

/** An area code, a number and a direct line (DIN 5008). */
const directLine = /^0[1-9]\d{1,4}[ /]\d{2,8}-\d{1,4}$/;

/** `2026-104523` numbers a case or an invoice. */
function beginsWithYear(written: string): boolean {
  return /^(?:19|20)\d\d[-/.]/.test(written);
}

/** A national prefix, an area code in brackets, or the groups of North America, Spain and India. */
function isPlausible(written: string): boolean {
  if (beginsWithYear(written) || /(?:[ .]000)+$/.test(written)) return false;
  if (/^0 ?[1-9]/.test(written) && !directLine.test(written) && written.replace(/\D/g, '').length < 10)
    return false;
  return /^\(?0 ?[1-9]|^\(|^[2-9]\d\d([-. ])\d{3}\1\d{4}$|^[6-9]\d{4} \d{5}$|^[48]00-\d{3}-?\d{4}$|^1[3-9]\d([ -])\d{4}\2\d{4}$|^1800[ -]\d{3}[ -]\d{3,4}$/.test(
    written,
  );
}
