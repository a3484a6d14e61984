import type { CountryCode } from 'libphonenumber-js/max';
import type { Finder, Finding } from '../finding.ts';
import type { DigitGroups, ScannedText } from '../scanned-text.ts';
import { createPhoneBook, type PhoneBook } from './phone-book.ts';
import { beginsWithYear, type PhoneShape, readPhoneShape } from './phone-shape.ts';
import { phoneLabelOf } from './phone-words.ts';

/**
 * Phone numbers: international ones, those of the plans of the regions, or else of the countries that the script suggests, and
 * numbers of other plans where their shape or the words around them tell.
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

/** The countries whose people write so: by script, and for Latin letters those of the languages that most people speak. */
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
  /** Whether the settings name the regions. */
  readonly isStated: boolean;
}

interface NumberContext extends Search {
  readonly isInRow: boolean;
}

interface FoundNumber {
  readonly finding: Finding;
  /** The last group of digits in it. */
  readonly last: number;
}

const maxGroups = 12;
const maxDigits = 17;
const maxSingles = 2;
/** E.164 has at most 15 digits, one to three of them for the country. */
const maxNationalDigits = 14;

/** The longest number that begins with this group. */
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

/** Whether the same separator stands before and behind a group: a number would begin where the row does. */
function isInsideRow(first: number, text: string, { starts, ends }: DigitGroups): boolean {
  if (first === 0) return false;
  const before = text.slice(ends[first - 1], starts[first]);
  return isSeparator(before) && before === text.slice(ends[first], starts[first + 1]);
}

/**
 * Whether a distinctive shape may begin with these digits: with a zero, a bracket, a plus or an area code.
 */
function mayBeDistinctive(head: string): boolean {
  return /^[0(+]|^\d{3}$/.test(head);
}

/** Takes in a plus and an opening bracket; undefined where the digits belong to something else. */
function startOfNumber(text: string, at: number): number | undefined {
  const lead = /(?:\+\(?|\(\+?)$/.exec(text.slice(Math.max(0, at - 3), at))?.[0] ?? '';
  const start = at - lead.length;
  return /[A-Za-z\u00c0-\u024f\u1e00-\u1eff\p{N}_@#$€£¥=/.-]/u.test(text[start - 1] ?? '') &&
    !isAllowedPrefix(text, start)
    ? undefined
    : start;
}

/** What may stand right before a number: `tel:`, `=` and a slash or hyphen that follows a letter or a space. */
function isAllowedPrefix(text: string, start: number): boolean {
  return /(?:[\p{L}\s]-|tel=|phone=|mobile=|(?<!\p{L})(?:tel|fax|phone|mobile|mob|cell|handy|ph)[.:]?|\p{L}\/|\p{L}\.)$/iu.test(
    text.slice(Math.max(0, start - 8), start),
  );
}

/** The groups at which the number may end. */
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
    // A number is written digit by digit throughout, or hardly at all.
    if (count > maxDigits || (singles > maxSingles && singles < group - first + 1)) break;
    if (count >= 7 && (singles <= maxSingles || count >= 9)) lasts.push(group);
  }
  return lasts;
}

/** One line may end within a number. */
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
  // Who names regions wants their numbers whatever else they may be.
  const mayStandAlone =
    shape.isPlausible ||
    (shape.isGrouped
      ? isStated && !beginsWithYear(shape.written)
      : label !== 'other' && book.isMobile(shape.digits));
  return mayStandAlone && isValid() ? finding(true) : undefined;
}

/** Groups of three as counts have them. */
function isThousands(written: string): boolean {
  return /^[1-9]\d{0,2}(?:[ .]\d{3})+$/.test(written);
}

/** Whether a group of letters and digits stands before it in the same row: `1Z 999 AA1 01 2345 6784`. */
function isPartOfCode(text: string, start: number): boolean {
  return /(?:[A-Z]\d|\d[A-Z])[A-Z\d]*[ -]$/.test(text.slice(Math.max(0, start - 12), start));
}
