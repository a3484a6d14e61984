import type { Finding } from '../finding.ts';
import { type Scan, textBefore } from '../scan.ts';

/** US social security numbers that can have been issued; nine digits in one piece only where the text says so. */
export function* findSsns({ text }: Scan): Generator<Finding> {
  for (const match of text.matchAll(/(?<!\d)(?<!\d[-.])(\d{3})([-. ]?)(\d{2})\2(\d{4})(?!\d)(?![-.]\d)/g)) {
    const [written, area = '', separator, group = '', serial = ''] = match;
    if (!isIssuable(area, group, serial)) continue;
    if (separator !== '-' && !isCalledSsn(textBefore(text, match.index, 60))) continue;
    yield {
      entity: 'US_SSN',
      start: match.index,
      end: match.index + written.length,
      isConfirmed: true,
    };
  }
}

/** The rules of the Social Security Administration, and the two numbers that advertisements made void. */
function isIssuable(area: string, group: string, serial: string): boolean {
  if (area === '000' || area === '666' || area >= '900') return false;
  if (group === '00' || serial === '0000') return false;
  return !['078051120', '219099999', '123456789'].includes(`${area}${group}${serial}`);
}

function isCalledSsn(before: string): boolean {
  return /\b(?:ssn|ssns|social|soc\.? ?sec|ss ?#)(?:\b|_|(?<=#))/i.test(before);
}
