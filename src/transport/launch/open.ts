import type { Launch } from './launch.ts';
import { createNativeLaunch } from './native.ts';

export type LauncherName = 'auto' | 'native' | 'portable';

/** The launcher of that name; `auto` is the native one where it works, else the portable one. */
export async function openLaunch(name: LauncherName): Promise<Launch> {
  if (name === 'portable') return await openPortable();
  const native = createNativeLaunch();
  if (native === undefined && name === 'native') {
    throw new Error('the native launcher needs Linux with glibc and the package koffi');
  }
  return native ?? (await openPortable());
}

/** Loaded only where it is used: its library is the largest of all to load. */
async function openPortable(): Promise<Launch> {
  const { createPortableLaunch } = await import('./portable.ts');
  return createPortableLaunch();
}
