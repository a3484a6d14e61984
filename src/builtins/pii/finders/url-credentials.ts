import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';

/** The login in `scheme://user:password@host`; a password may hold an @ itself. */
export function* findUrlCredentials({ text }: ScannedText): Generator<Finding> {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    const start = at + 3;
    const authority = /^[^\s/?#"'<>]*/.exec(text.slice(start, start + longestAuthority))?.[0] ?? '';
    const login = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
    const colon = login.indexOf(':');
    if (!/[A-Za-z]/.test(text[at - 1] ?? '') || colon === -1 || colon === login.length - 1) continue;
    if (/[{}]|^<|:[<$]/.test(login)) continue;
    yield { entity: 'URL_CREDENTIALS', start, end: start + login.length, isConfirmed: true };
  }
}

const longestAuthority = 512;
