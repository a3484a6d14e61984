import type { Finding } from '../finding.ts';
import { integerDigits } from '../integer-digits.ts';
import { libraries } from '../lazy-libraries.ts';
import { type DigitGroups, type ScannedText, textBefore } from '../scanned-text.ts';
import { type Gap, readGap } from './digit-gap.ts';

/** Card numbers of 12 to 19 digits, with an issuer's range, the Luhn check digit and the grouping of cards. */
export function* findCards({ text, digits }: ScannedText): Generator<Finding> {
  for (let first = 0; first < digits.starts.length; ) {
    const last = isFraction(text, startOf(digits, first)) ? undefined : lastGroup(text, digits, first);
    if (last === undefined) {
      first += 1;
      continue;
    }
    const [start, end] = [startOf(digits, first), endOf(digits, last)];
    yield { entity: 'CREDIT_CARD', start, end, isConfirmed: true };
    first = last + 1;
  }
  yield* findScientific(text);
}

function* findScientific(text: string): Generator<Finding> {
  for (const { 0: written, 1: mantissa = '', 2: exponent, index } of text.matchAll(scientific)) {
    const digits = integerDigits(`${mantissa}e${exponent}`);
    if (digits === undefined || digits.length < 12 || !isCard(digits, text, index)) continue;
    yield { entity: 'CREDIT_CARD', start: index, end: index + written.length, isConfirmed: true };
  }
}

const scientific = /(?<![\d.])(\d\.\d{8,18})e\+?(\d{2})(?![\d.])/gi;

function lastGroup(text: string, digits: DigitGroups, first: number): number | undefined {
  const start = startOf(digits, first);
  const size = endOf(digits, first) - start;
  if (size >= 12 && isCard(text.slice(start, endOf(digits, first)), text, start)) return first;
  if (!canStartCard(text, digits, first)) return undefined;
  const candidates = groupEnds(text, digits, first).toReversed();
  return candidates.find((last) => {
    const written = text.slice(start, endOf(digits, last));
    return hasCardGroups(written) && isCard(written.replace(/\D/g, ''), text, start);
  });
}

/**
 * Cards begin with at least four digits, and with more than eight only across a line end. A number spelled digit by
 * digit begins with its row.
 */
function canStartCard(text: string, digits: DigitGroups, first: number): boolean {
  const size = endOf(digits, first) - startOf(digits, first);
  const gap = gapBehind(text, digits, first);
  if (gap === undefined) return false;
  if (size >= 4) return size <= 8 || gap.hasLineBreak;
  const before = first === 0 ? undefined : gapBehind(text, digits, first - 1);
  return size === 1 && before?.kind !== gap.kind;
}

function groupEnds(text: string, digits: DigitGroups, first: number): number[] {
  const ends: number[] = [];
  const kinds = new Set<string>();
  let breaks = 0;
  let count = endOf(digits, first) - startOf(digits, first);
  for (let next = first + 1; next < digits.starts.length; next++) {
    const gap = gapBehind(text, digits, next - 1);
    if (gap === undefined) break;
    if (gap.kind !== '') kinds.add(gap.kind);
    if (gap.hasLineBreak) breaks += 1;
    count += endOf(digits, next) - startOf(digits, next);
    if (kinds.size > 1 || breaks > 1 || count > 19) break;
    if (count >= 12) ends.push(next);
  }
  return ends;
}

function gapBehind(text: string, digits: DigitGroups, group: number): Gap | undefined {
  return readGap(text.slice(endOf(digits, group), digits.starts[group + 1] ?? endOf(digits, group)));
}

/** At most five groups, all but the last of four digits or more; or at least 15 single digits. */
function hasCardGroups(written: string): boolean {
  const sizes = written.split(/\D+/).map(({ length }) => length);
  if (sizes.every((size) => size === 1)) return sizes.length >= 15;
  return sizes.slice(0, -1).every((size) => size >= 4) && sizes.length <= 5;
}

function isCard(digits: string, text: string, start: number): boolean {
  if (digits.length > 19 || /^(\d)\1+$/.test(digits) || !libraries.isLuhnNumber()(digits)) return false;
  return isIssued(digits) || (isIssued(digits, 'once') && hasCardLabel(textBefore(text, start, 60)));
}

function hasCardLabel(before: string): boolean {
  return /\b(?:cards?|cc|visa|master ?card|maestro|amex|credit|debit|pan|karte|kreditkarte|carte|tarjeta|carta)\b/i.test(
    before,
  );
}

/** A decimal fraction may have as many digits as a card. */
function isFraction(text: string, start: number): boolean {
  return /\d\.$|(?<![\d,])-?0,$/.test(text.slice(Math.max(0, start - 4), start));
}

function startOf({ starts }: DigitGroups, index: number): number {
  return starts[index] ?? 0;
}

function endOf({ ends }: DigitGroups, index: number): number {
  return ends[index] ?? 0;
}

type Range = readonly [first: number, last: number, lengths: readonly number[]];

/** Issuer prefixes (ISO/IEC 7812), as published by the card schemes. */
const issuerRanges: readonly Range[] = [
  [4, 4, [16, 19]],
  [51, 55, [16]],
  [2221, 2720, [16]],
  [34, 34, [15]],
  [37, 37, [15]],
  [300, 305, [14]],
  [3095, 3095, [14]],
  [36, 36, [14]],
  [38, 39, [14]],
  [3528, 3589, [16, 17, 18, 19]],
  [1800, 1800, [15]],
  [2131, 2131, [15]],
  [6011, 6011, [16, 19]],
  [644, 649, [16, 19]],
  [65, 65, [16, 19]],
  [62, 62, [16, 17, 18, 19]],
  [81, 82, [16, 19]],
  [60, 60, [16]],
  [508, 508, [16]],
  [2200, 2204, [16, 17, 18, 19]],
  [9792, 9792, [16]],
  [506099, 506198, [16, 19]],
  [5018, 5018, [12, 13, 14, 15, 16, 17, 18, 19]],
  [5020, 5020, [12, 13, 14, 15, 16, 17, 18, 19]],
  [5038, 5038, [12, 13, 14, 15, 16, 17, 18, 19]],
  [5893, 5893, [12, 13, 14, 15, 16, 17, 18, 19]],
  [6304, 6304, [12, 13, 14, 15, 16, 17, 18, 19]],
  [6759, 6759, [12, 13, 14, 15, 16, 17, 18, 19]],
  [6761, 6763, [12, 13, 14, 15, 16, 17, 18, 19]],
  [604, 604, [16]],
];

/** Wide ranges and common lengths, which need a word for cards nearby. */
const rangesNeedingLabel: readonly Range[] = [
  [4, 4, [13]],
  [35, 35, [16]],
  [50, 50, [12, 13, 14, 15, 16, 17, 18, 19]],
  [56, 69, [12, 13, 14, 15, 16, 17, 18, 19]],
  [36, 36, [15, 16, 17, 18, 19]],
];

/** `once` checks the ranges that need a word for cards nearby. */
function isIssued(digits: string, among: 'current' | 'once' = 'current'): boolean {
  return (among === 'current' ? issuerRanges : rangesNeedingLabel).some(([first, last, lengths]) => {
    const prefix = Number(digits.slice(0, String(first).length));
    return prefix >= first && prefix <= last && lengths.includes(digits.length);
  });
}
