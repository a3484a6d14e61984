export interface Addresses {
  readonly homepage: string;
  readonly bugs: string;
  readonly repository: { readonly type: 'git'; readonly url: string };
}

/** The addresses of the GitHub repository `OWNER/NAME`. Throws if the name is invalid. */
export function addressesOf(name: string): Addresses {
  if (!/^[\w-]+\/[\w.-]+$/.test(name)) throw new Error(`"${name}" is not OWNER/NAME`);
  const page = `https://github.com/${name}`;
  return {
    homepage: `${page}#readme`,
    bugs: `${page}/issues`,
    repository: { type: 'git', url: `git+${page}.git` },
  };
}

/** `OWNER/NAME` from the address of which all others follow. Throws if it is not a GitHub address. */
export function nameOf({ repository }: Addresses): string {
  const [, name] = /^git\+https:\/\/github\.com\/([\w-]+\/[\w.-]+)\.git$/.exec(repository.url) ?? [];
  if (name === undefined) throw new Error(`repository.url is ${repository.url}`);
  return name;
}

export function withOwner(codeOwners: string, owner: string): string {
  return codeOwners.replaceAll(/@[\w-]+(?=\/)/g, `@${owner}`);
}
