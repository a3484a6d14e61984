/** The code of a system error, such as `ENOENT`; undefined for anything else. */
export function systemCode(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
}

/** Why a file cannot be read, as a phrase that follows its name. */
export function whyUnreadable(thrown: unknown): string {
  const code = systemCode(thrown);
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  if (code === 'EISDIR') return 'is a folder';
  if (code === 'EACCES') return 'cannot be read: permission denied';
  return `cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
}
