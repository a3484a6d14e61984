import type { Launch } from './launch.ts';
import { createNativeLaunch } from './native.ts';
import { createPortableLaunch } from './portable.ts';

export type LauncherName = 'auto' | 'native' | 'portable';

/** The launcher of that name; `auto` is the native one where it works, else the portable one. */
export function openLaunch(name: LauncherName): Launch {
  if (name === 'portable') return createPortableLaunch();
  const native = createNativeLaunch();
  if (native === undefined && name === 'native') {
    throw new Error('the native launcher needs Linux with glibc, the package koffi and the main thread');
  }
  return native ?? createPortableLaunch();
}
