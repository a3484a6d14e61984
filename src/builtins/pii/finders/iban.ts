import type { Finding } from '../finding.ts';
import { libraries } from '../lazy-libraries.ts';
import type { ScannedText } from '../scanned-text.ts';

export function* findIbans({ text }: ScannedText): Generator<Finding> {
  // Consumes only the country and the check digits, so that each start is tried once.
  for (const { 0: head, index } of text.matchAll(
    /(?:(?<![A-Za-z\u00c0-\u024f\u1e00-\u1eff\p{N}])|(?<=(?<!\p{L})iban))[a-z]{2}[ -]?\d{2}/giu,
  )) {
    const length = lengths.get(head.slice(0, 2).toUpperCase());
    const end = length === undefined ? undefined : endOfCompact(text, index, length);
    if (end === undefined) continue;
    const compact = text.slice(index, end).replaceAll(/[ -]/g, '').toUpperCase();
    if (libraries.isIban()(compact)) yield { entity: 'IBAN_CODE', start: index, end, isConfirmed: true };
  }
}

/**
 * Allows one separator between two characters, also doubled, or a line end. Undefined if more or fewer characters
 * follow.
 */
function endOfCompact(text: string, start: number, length: number): number | undefined {
  let at = start;
  for (let count = 0; count < length; count++) {
    between.lastIndex = at;
    if (count > 0) at += between.exec(text)?.[0].length ?? 0;
    if (!/[A-Za-z0-9]/.test(text[at] ?? '')) return undefined;
    at += 1;
  }
  return /[A-Za-z\u00c0-\u024f\u1e00-\u1eff\p{N}]/u.test(text[at] ?? '') ? undefined : at;
}

const between = /[ -]{0,3}(?:\r?\n {0,2})?/y;

const lengths: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 DZ26 EE20 EG29 ES24 ' +
    'FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IR26 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 ' +
    'LI21 LT20 LU20 LV21 LY25 MA28 MC27 MD24 ME22 MK19 MR27 MT31 MU30 MZ25 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 ' +
    'RS22 SA24 SC31 SE24 SI19 SK24 SM27 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20'
  )
    .split(' ')
    .map((row) => [row.slice(0, 2), Number(row.slice(2))]),
);
