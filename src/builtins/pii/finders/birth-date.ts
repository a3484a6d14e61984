import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';
import { tellingWords, wordsBefore, wordsBehind } from './context.ts';

/** Full dates of living people in sentences that speak of a birth, before the date or behind it. */
export function* findBirthDates(scan: ScannedText): Generator<Finding> {
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

/** Who was born before 1900 is history. */
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
/** Nothing but words of the same sentence may stand between: no other number. */
const birthBefore = tellingWords(births, '[^\\d]{0,45}$');
const birthWords = tellingWords(births);
const bornBehind = /^ ?[,)]? ?生(?!\p{sc=Hani})|^ ?生(?:的|人)/u;
/** The first day of several. */
const rangeBehind = /^ ?(?:-|~|to|till|until|through|and|bis|und|au|et|al|hasta|至|到|から|से) ?\d/iu;
/** Days that are kept by a birthday's word, and births of what is no person. */
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
