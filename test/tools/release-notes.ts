/** The tag as in git (`v1.2.3`), and the texts of package.json and CHANGELOG.md. */
export interface Release {
  readonly tag: string;
  readonly manifest: string;
  readonly changelog: string;
}

/**
 * The notes of a tagged release. Throws unless the tag, package.json and the changelog name the same version and each
 * section names a published one.
 */
export function readReleaseNotes({ tag, manifest, changelog }: Release): string {
  const { version } = JSON.parse(manifest);
  if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, and the version in package.json ${version}`);
  const open = sectionsOf(changelog).find(({ title, text }) => text && !/^\d[\w.+-]*$/.test(title));
  if (open)
    throw new Error(
      `CHANGELOG.md: "## ${open.title}" is not the heading of a release: write "## ${version}"`,
    );
  return notesOf(changelog, version);
}

/** The changelog's section for a version, published or not. Throws if it is missing or empty. */
export function notesOf(changelog: string, version: string): string {
  const sections = sectionsOf(changelog).filter(({ text }) => text);
  const notes = sections.find(({ title }) => title === version || title === `${version}, not yet published`);
  if (notes) return notes.text;
  const there = sections.map(({ title }) => `"## ${title}"`).join(', ') || 'no section';
  throw new Error(
    `CHANGELOG.md has no section "## ${version}" (it has ${there}): name one of these, or write it`,
  );
}

function sectionsOf(changelog: string): { title: string; text: string }[] {
  return changelog
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf('\n');
      return { title: section.slice(0, end).trim(), text: section.slice(end).trim() };
    });
}
