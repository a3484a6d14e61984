export interface Content {
  readonly title: string;
  readonly bytes: Uint8Array;
}

export const text = (title: string, value: string): Content => ({ title, bytes: Buffer.from(value) });
export const raw = (title: string, ...parts: readonly (string | readonly number[])[]): Content => ({
  title,
  bytes: Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([...part]))),
  ),
});

/** Names that resemble a key but differ from it. */
export function namesLike(key: string): string[] {
  const upper = key.charAt(0).toUpperCase() + key.slice(1);
  const cyrillic = key.replace(/[aeocp]/, (letter) => 'аеоср'.charAt('aeocp'.indexOf(letter)));
  const names = [
    upper,
    key.toUpperCase(),
    key.toLowerCase(),
    `${key} `,
    ` ${key}`,
    `${key}\u200b`,
    `${key}\0`,
    `"${key}"`,
    `${key}s`,
    cyrillic,
    key.replace('l', '\u0131'),
    `__${key}`,
  ];
  return [...new Set(names)].filter((name) => name !== key);
}
