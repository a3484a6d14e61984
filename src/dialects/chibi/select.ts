import { resolve } from 'node:path';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import type { ChibiSettings } from './config/settings.ts';

/**
 * Whether the plugin has registered for the point. A file inside the project root is read without asking, if it is
 * known where its path leads.
 */
export function selects({ settings }: HookEntry<ChibiSettings>, { point, hookContext }: Question): boolean {
  if (!settings.points.includes(point)) return false;
  return point !== 'pre_file_read' || !isInside(settings.projectRoot, hookContext.realPath);
}

function isInside(root: string, path: string | undefined): boolean {
  if (path === undefined) return false;
  const [folder, file] = [resolve(root), resolve(path)];
  return file === folder || file.startsWith(folder === '/' ? folder : `${folder}/`);
}
