/** The path among a tool's arguments, whatever its type: `path`, or `file_path` where that is missing or empty. */
export function pathArgumentOf({ path, file_path }: Readonly<Record<string, unknown>>): unknown {
  return path === undefined || path === null || path === '' ? file_path : path;
}
