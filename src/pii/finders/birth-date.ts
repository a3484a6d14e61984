import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';
import { tellingWords } from './context.ts';

/** A full date beside words that speak of a birth. */
export function* findBirthDates({ text, digits }: ScannedText): Generator<Finding> {
  if (digits.starts.length === 0) return;
  for (const { 0: words, index } of text.matchAll(birth)) {
    const from = index + words.length;
    const match = dateBehind.exec(text.slice(from, from + 70));
    if (match?.[1] === undefined) continue;
    const end = from + match[0].length;
    yield { entity: 'DATE_OF_BIRTH', start: end - match[1].length, end, isConfirmed: true };
  }
  for (const { 0: written, index } of text.matchAll(anyDate)) {
    const end = index + written.length;
    if (!bornBehind.test(text.slice(end, end + 24))) continue;
    yield { entity: 'DATE_OF_BIRTH', start: index, end, isConfirmed: true };
  }
}

const birth = new RegExp(
  tellingWords(
    'born|d\\.?o\\.?b\\.?|date of birth|birth date|birthday|b-day|bday|' +
      'geboren|geburtsdatum|geburtstag|geburtstermin|geb\\.|geb\\.?-datum|\\(\\*|' +
      'née?|né\\(e\\)|naissance|naiss\\.?|anniversaire|ddn|' +
      'nac[ií]|naci[oó]|nacid[oa]|nacimiento|nac\\.?|cumpleaños|f\\. ?nac\\.?|nascid[oa]|nascimento|' +
      'data di nascita|nat[oa] il|compleanno|födelsedatum|född|geboortedatum|urodzon[ya]|urodzenia|' +
      '出生|生日|生于|生於|生年月日|誕生日|生まれ|생년월일|생일|출생|जन्म[\\u0900-\\u097f]*|डीओबी',
  ).source,
  'giu',
);

const months =
  '(?:jan|feb|fév|fev|mar|mär|apr|avr|abr|may|mai|maj|jun|juin|juil|jul|aug|août|aout|ago|sep|set|oct|okt|out|ott|nov|dec|dez|déc|dic|ene|gen|gennaio|lug|giu|mag|' +
  'जनवरी|फरवरी|फ़रवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|सितम्बर|अक्टूबर|अक्तूबर|नवंबर|नवम्बर|दिसंबर|दिसम्बर)[\\p{L}\\p{M}]{0,9}\\.?';
const dates = [
  '\\d{4}[-./] ?\\d{1,2}[-./] ?\\d{1,2}',
  '\\d{1,2}[-./] ?\\d{1,2}[-./] ?(?:\\d{4}|\\d{2})',
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
/** A few words may stand between ("born in Oslo on"), but no other sentence. */
const dateBehind = new RegExp(
  `^[^\\d.!?;\\n]{0,30}\\.?\\n?[^\\d.!?;\\n]{0,12}?(?<![A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff\\d])(${date})`,
  'iu',
);
const anyDate = new RegExp(`(?<![A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff\\d])(?<!\\d[-./])${date}`, 'giu');
const bornBehind =
  /^[ ,]{0,2}(?:in [\p{L} ]{1,12} )?(?:に ?生まれ|生まれ|生(?![\p{sc=Hani}])|出生|geboren|born|nacid[oa]|को (?:जन्म|पैदा)|에? ?출생|생(?!\p{sc=Hang}))/iu;
