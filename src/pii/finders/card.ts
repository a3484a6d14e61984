import type { Finding } from '../finding.ts';
import { library } from '../library.ts';
import type { DigitGroups, Scan } from '../scan.ts';
import { textBefore } from '../scan.ts';
import { isIssued } from './issuer.ts';

/** Card numbers of 12 to 19 digits: an issuer's range, the Luhn check digit, and groups as cards print them. */
export function* findCards({ text, digits }: Scan): Generator<Finding> {
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
}

/** The last group of the card number that begins with this group, the longest one there is. */
function lastGroup(text: string, digits: DigitGroups, first: number): number | undefined {
  const start = startOf(digits, first);
  if (endOf(digits, first) - start >= 12) {
    return isCard(text.slice(start, endOf(digits, first)), text, start) ? first : undefined;
  }
  if (!mayBegin(text, digits, first)) return undefined;
  const candidates = groupEnds(text, digits, first).toReversed();
  return candidates.find((last) => {
    const written = text.slice(start, endOf(digits, last));
    return isPrinted(written) && isCard(written.replace(/\D/g, ''), text, start);
  });
}

/** Cards print four digits or more first; a number that is spelled digit by digit begins where the row begins. */
function mayBegin(text: string, digits: DigitGroups, first: number): boolean {
  const size = endOf(digits, first) - startOf(digits, first);
  if (size >= 4) return size <= 8;
  const separator = text[endOf(digits, first)];
  const isInRow = first > 0 && text.slice(endOf(digits, first - 1), startOf(digits, first)) === separator;
  return size === 1 && !isInRow;
}

/** The groups at which a number of several groups may end: one separator throughout, at most 19 digits. */
function groupEnds(text: string, digits: DigitGroups, first: number): number[] {
  const ends: number[] = [];
  const separator = text[endOf(digits, first)] ?? '';
  if (!' -.'.includes(separator)) return ends;
  let count = endOf(digits, first) - startOf(digits, first);
  for (let next = first + 1; next < digits.starts.length; next++) {
    if (text.slice(endOf(digits, next - 1), startOf(digits, next)) !== separator) break;
    count += endOf(digits, next) - startOf(digits, next);
    if (count > 19) break;
    if (count >= 12) ends.push(next);
  }
  return ends;
}

/** Groups of two to six digits that begin with a four or the like, or every digit for itself. */
function isPrinted(written: string): boolean {
  const sizes = written.split(/[ .-]/).map(({ length }) => length);
  if (sizes.every((size) => size === 1)) return sizes.length >= 15;
  return sizes.slice(0, -1).every((size) => size >= 4) && sizes.length <= 5;
}

function isCard(digits: string, text: string, start: number): boolean {
  if (digits.length > 19 || /^(\d)\1+$/.test(digits) || !library.isLuhnNumber()(digits)) return false;
  return isIssued(digits) || (isIssued(digits, 'once') && isCalledCard(textBefore(text, start, 60)));
}

function isCalledCard(before: string): boolean {
  return /\b(?:cards?|cc|visa|master ?card|maestro|amex|credit|debit|pan|karte|kreditkarte|carte|tarjeta|carta)\b/i.test(
    before,
  );
}

/** Behind a decimal point there may be as many digits as a card has. */
function isFraction(text: string, start: number): boolean {
  return text[start - 1] === '.' && /\d/.test(text[start - 2] ?? '');
}

function startOf({ starts }: DigitGroups, index: number): number {
  return starts[index] ?? 0;
}

function endOf({ ends }: DigitGroups, index: number): number {
  return ends[index] ?? 0;
}
