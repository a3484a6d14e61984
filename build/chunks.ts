/** What rolldown tells of a module. */
interface Graph {
  getModuleInfo(id: string): { readonly isEntry: boolean; readonly importedIds: readonly string[] } | null;
}

/**
 * Names the chunk of a module: those that are loaded together, because the same of the `roots` need them, share one. A root
 * is some modules that are loaded whole, their static imports with them; a module that no root needs gets no name. What the first
 * root needs is loaded always, and makes one chunk whoever else needs it.
 */
export function chunksOf(roots: Readonly<Record<string, readonly string[]>>) {
  let closures: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  return (id: string, graph: Graph): string | null => {
    // An entry has a file of its own, which stands for its name.
    if (graph.getModuleInfo(id)?.isEntry === true) return null;
    closures ??= new Map(Object.entries(roots).map(([name, files]) => [name, closureOf(files, graph)]));
    const names = [...closures].filter(([, closure]) => closure.has(id)).map(([name]) => name);
    const [first] = closures.keys();
    return names[0] === first ? (first ?? null) : names.join('-') || null;
  };
}

function closureOf(files: readonly string[], graph: Graph): Set<string> {
  const found = new Set(files);
  for (const id of found) {
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  }
  return found;
}
