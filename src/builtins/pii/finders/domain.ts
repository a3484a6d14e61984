import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';
import { isDomain } from './email.ts';

/** Web addresses: scheme and host, or a bare host under a top-level domain that exists. */
export function* findDomains({ text }: ScannedText): Generator<Finding> {
  for (const { 0: written, index } of text.matchAll(
    /(?<![\p{L}\p{N}@.:/_-])(?:https?:\/\/)?[\p{L}\p{N}][\p{L}\p{N}-]{0,62}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/giu,
  )) {
    const host = written.replace(/^https?:\/\//i, '');
    if (!isDomain(host) || !/\p{L}/u.test(host)) continue;
    if (!written.includes('://') && !isKnownTopLevel(host)) continue;
    yield { entity: 'DOMAIN_NAME', start: index, end: index + written.length, isConfirmed: false };
  }
}

/** Without a scheme, `end.So` is a full stop without its space and `main.rs` a file. */
function isKnownTopLevel(host: string): boolean {
  return (
    /^www\./i.test(host) ||
    /\.(?:com|org|net|edu|gov|mil|int|info|biz|eu|uk|de|fr|io|ai|app|dev)$/i.test(host)
  );
}
