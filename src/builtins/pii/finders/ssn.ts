import type { Finding } from '../finding.ts';
import { type ScannedText, textBefore } from '../scanned-text.ts';
import { readGap } from './digit-gap.ts';

/** Issuable US social security numbers; nine digits without groups need a label. */
export function* findSsns({ text }: ScannedText): Generator<Finding> {
  for (const match of text.matchAll(shape)) {
    const [written, area = '', one = '', group = '', other = '', serial = ''] = match;
    const separator = separatorOf(one, other);
    if (separator === undefined || !isIssuable(area, group, serial)) continue;
    if (separator !== '-' && !hasSsnLabel(textBefore(text, match.index, 60))) continue;
    yield {
      entity: 'US_SSN',
      start: match.index,
      end: match.index + written.length,
      isConfirmed: true,
    };
  }
}

const between = String.raw`((?: ?[-.]?[-. ]? ?)(?:\r?\n {0,2})?)`;
const shape = new RegExp(
  String.raw`(?<!\d)(?<!\d[-.])(\d{3})${between}(\d{2})${between}(\d{4})(?!\d)(?![-.]\d)`,
  'g',
);

/** The shared separator, where one of the two may be a line end; undefined if they differ. */
function separatorOf(one: string, other: string): string | undefined {
  if (one === '' && other === '') return '';
  const [left, right] = [readGap(one), readGap(other)];
  if (left === undefined || right === undefined || (left.hasLineBreak && right.hasLineBreak))
    return undefined;
  if (left.kind === right.kind || right.kind === '') return left.kind;
  return left.kind === '' ? right.kind : undefined;
}

/** The rules of the Social Security Administration, and two numbers that advertisements made void. */
function isIssuable(area: string, group: string, serial: string): boolean {
  if (area === '000' || area === '666' || area >= '900') return false;
  if (group === '00' || serial === '0000') return false;
  return !['078051120', '219099999', '123456789'].includes(`${area}${group}${serial}`);
}

function hasSsnLabel(before: string): boolean {
  return /\b(?:ssn|ssns|social(?! insurance)|soc\.? ?sec|ss ?#)(?:\b|_|(?<=#))/i.test(before);
}
