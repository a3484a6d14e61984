import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { holds } from '../../../base/files/holds.ts';
import { followLinks } from '../../../base/files/real-path.ts';
import { type BubblewrapSandbox, findExposure } from '../../binding/sandbox.ts';
import type { LaunchRequest } from '../../launch/launch.ts';
import { O_PATH, type OpenedPath, openPath } from './open-path.ts';
import { programFiles } from './program-files.ts';
import { type Mount, systemFolders } from './view.ts';

/** What one start shows, as descriptors that are open until `close`. */
export interface OpenedMounts {
  readonly mounts: readonly Mount[];
  close(): void;
}

/** Opens what the sandbox shows of this machine to the request. Throws an Error that says why it must not, or cannot, be shown. */
export function openMounts(sandbox: BubblewrapSandbox, request: LaunchRequest): OpenedMounts {
  const opener = new Opener(sandbox);
  try {
    return { mounts: opener.mounts(request), close: () => opener.close() };
  } catch (error) {
    opener.close();
    throw error;
  }
}

/** A folder or file that is shown by a name that the config gives it. */
interface Shown extends OpenedPath {
  readonly path: string;
  readonly as: 'read' | 'write';
}

class Opener {
  readonly #sandbox: BubblewrapSandbox;
  /** Folders whose links may be those of a sandboxed process. */
  readonly #writable: readonly string[];
  readonly #opened: number[] = [];

  constructor(sandbox: BubblewrapSandbox) {
    const { write, writtenElsewhere = [] } = sandbox;
    this.#sandbox = sandbox;
    this.#writable = [...write, ...writtenElsewhere].flatMap((path) => [path, followLinks(path)]);
  }

  mounts(request: LaunchRequest): readonly Mount[] {
    const { read, write, hide, fixed = [], secrets = [] } = this.#sandbox;
    const exposure = findExposure(this.#sandbox);
    if (exposure !== undefined) throw new Error(exposure);
    const shown = [
      ...[...read, ...fixed].map((path): Shown => ({ path, as: 'read', ...this.#open(path) })),
      ...write.map((path): Shown => ({ path, as: 'write', ...this.#open(path) })),
    ];
    // Where it starts is what the config names, and no place that a link of its own leads to.
    this.#open(request.cwd);
    const folders = hide.filter((path) => !isFile(path));
    const files = [...secrets, ...hide.filter(isFile)];
    return [
      ...shown.map(({ path, as, fd }) => ({ path, as, fd })),
      ...this.#program(request, shown, [...folders, ...files]),
      ...folders.flatMap((path) => this.#hiddenFolder(path, shown)),
      ...this.#withoutSecrets(files, shown),
    ];
  }

  close(): void {
    for (const fd of this.#opened.splice(0)) closeSync(fd);
  }

  #open(path: string): OpenedPath {
    const opened = openPath(path, this.#writable);
    this.#opened.push(opened.fd);
    return opened;
  }

  /** Links of a program lead to what it cannot do without, unless a sandboxed process may have made them. */
  #program(request: LaunchRequest, shown: readonly Shown[], hidden: readonly string[]): Mount[] {
    const isOurs = (file: string) => !this.#writable.some((folder) => holds(folder, followLinks(file)));
    const isShown = (file: string) =>
      [...shown.map(({ path }) => path), ...systemFolders].some((path) => holds(path, file));
    const isHidden = (file: string) => hidden.some((path) => holds(followLinks(path), file));
    return programFiles(request, isOurs).flatMap((file) => {
      const opened = this.#tryOpen(file);
      if (opened === undefined || isHidden(opened.real)) return [];
      const places = [...new Set([file, opened.real])].filter((place) => !isShown(place));
      return places.map((path): Mount => ({ path, as: 'read', fd: opened.fd }));
    });
  }

  /** Undefined where there is nothing, or nothing that may be followed: bwrap then says that it is not there. */
  #tryOpen(path: string): OpenedPath | undefined {
    try {
      return this.#open(path);
    } catch {
      return undefined;
    }
  }

  #hiddenFolder(path: string, shown: readonly Shown[]): Mount[] {
    return placesOf(path, shown).flatMap(({ place, shows }): Mount[] => {
      // Otherwise what runs inside could make it, and have its own state read as ours.
      if (shows.as === 'write' && !statSync(place, { throwIfNoEntry: false }))
        mkdirSync(place, { recursive: true, mode: 0o700 });
      if (!statSync(place, { throwIfNoEntry: false })) return [];
      this.#open(place);
      return [{ path: place, as: 'hidden' }];
    });
  }

  /**
   * Shows the folders of secret files entry by entry, without those files. A file that takes the place of a secret later is not
   * shown then either, while a mount on the secret itself would go with its old file.
   */
  #withoutSecrets(files: readonly string[], shown: readonly Shown[]): Mount[] {
    const names = new Map<string, Set<string>>();
    for (const file of files) {
      const entry = join(followLinks(dirname(file)), basename(file));
      for (const { place } of [entry, followLinks(file)].flatMap((path) => placesOf(path, shown))) {
        const folder = dirname(place);
        names.set(folder, (names.get(folder) ?? new Set()).add(basename(place)));
      }
    }
    return [...names].flatMap(([folder, secret]): Mount[] => [
      { path: folder, as: 'selected' },
      ...this.#entriesOf(folder, secret),
    ]);
  }

  #entriesOf(folder: string, secret: ReadonlySet<string>): Mount[] {
    const { fd: folderFd } = this.#open(folder);
    const entries = readdirSync(`/proc/self/fd/${folderFd}`).filter((name) => !secret.has(name));
    if (entries.length > MAX_ENTRIES) {
      const [name = ''] = secret;
      throw new Error(
        `${folder} has the secret file ${name} and more than ${MAX_ENTRIES} others: give the file a folder of its own`,
      );
    }
    return entries.flatMap((name): Mount[] => {
      const place = `/proc/self/fd/${folderFd}/${name}`;
      const path = join(folder, name);
      try {
        const fd = openSync(place, O_PATH | constants.O_NOFOLLOW);
        this.#opened.push(fd);
        if (!fstatSync(fd).isSymbolicLink()) return [{ path, as: 'read', fd }];
        return [{ path, as: 'link', target: readlinkSync(place) }];
      } catch {
        return []; // It has gone since.
      }
    });
  }
}

/** Each mount of these costs bwrap a look at all others. */
const MAX_ENTRIES = 512;

/** Where in what is shown, by whichever name, a path stands. */
function placesOf(
  path: string,
  shown: readonly Shown[],
): { readonly place: string; readonly shows: Shown }[] {
  const target = path === join(followLinks(dirname(path)), basename(path)) ? path : followLinks(path);
  return shown
    .filter(({ real }) => target !== real && holds(real, target))
    .map((shows) => ({ place: join(shows.path, relative(shows.real, target)), shows }));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
