import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';

/** A full date behind words that speak of a birth. */
export function* findBirthDates({ text }: ScannedText): Generator<Finding> {
  for (const { 0: words, index } of text.matchAll(birth)) {
    const from = index + words.length;
    const match = date.exec(text.slice(from, from + 60));
    if (match === null) continue;
    const [lead, written = ''] = [match[0].slice(0, match[0].length - (match[1]?.length ?? 0)), match[1]];
    const start = from + lead.length;
    yield { entity: 'DATE_OF_BIRTH', start, end: start + written.length, isConfirmed: true };
  }
}

const birth =
  /(?<!\p{L})(?:born|d\.?o\.?b\.?|dob|date[ _-]?of[ _-]?birth|birth[ _-]?date|birth[ _-]?day|b-day|geboren|geburtsdatum|geb\.|née?|date de naissance|fecha de nacimiento|nacid[oa]|data di nascita|nat[oa] il|födelsedatum)(?!\p{L})/giu;

const months =
  '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|janv|févr|avr|juin|juil|août|ene|abr|ago|dic)\\p{L}{0,8}\\.?';
const dates = [
  '\\d{4}[-./]\\d{1,2}[-./]\\d{1,2}',
  '\\d{1,2}[-./] ?\\d{1,2}[-./] ?(?:\\d{4}|\\d{2})',
  `\\d{1,2}(?:st|nd|rd|th|\\.)?[ -](?:of )?${months},?[ -]\\d{4}`,
  `${months} \\d{1,2}(?:st|nd|rd|th)?,? \\d{4}`,
  '(?<=[\\s:"=])\\d{8}',
];
/** A few words may stand between ("born in Oslo on"), but no other sentence. */
const date = new RegExp(
  `^[^\\d.!?;\\n]{0,30}\\n?[^\\d.!?;\\n]{0,4}(${dates.map((shape) => `(?:${shape})`).join('|')})(?!\\d)`,
  'iu',
);
