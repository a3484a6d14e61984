import { createHash } from 'node:crypto';

/**
 * A name of one file or folder for a text that may hold anything. Different texts have different names, also where the
 * file system takes letters of either case, or of either Unicode normal form, for the same; none leads elsewhere.
 */
export function toFileName(text: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(text)) return text;
  // Of lone surrogates, which have no UTF-8, JSON has an escape each.
  const digest = createHash('sha256').update(JSON.stringify(text)).digest('hex').slice(0, 32);
  const readable = text
    .slice(0, 40)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  // No name that stands for itself has a tilde.
  return `${readable}~${digest}`;
}
