import { createHash } from 'node:crypto';

/**
 * A safe name of one file or folder for any text. Different texts get different names, also on file systems
 * that ignore case or Unicode normalization; no name contains a separator or is `..`.
 */
export function toFileName(text: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(text)) return text;
  // JSON escapes lone surrogates, which have no UTF-8 form.
  const digest = createHash('sha256').update(JSON.stringify(text)).digest('hex').slice(0, 32);
  const readable = text
    .slice(0, 40)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  // A text that is its own name has no tilde, so the two forms never collide.
  return `${readable}~${digest}`;
}
