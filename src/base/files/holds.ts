/** Whether `path` is `folder` or lies in it; both are absolute and without `..`. */
export function holds(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}
