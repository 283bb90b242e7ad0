import { globSync, readFileSync } from 'node:fs';

// Outside src/ui/styles, which all views share, a class is styled by its bare name in one file. Style sheets come with the views, so
// a second home would change the look of a view depending on which others were opened before.

const SHARED = 'src/ui/styles/';

const homes = new Map<string, Set<string>>();
for (const file of globSync('src/ui/**/*.css')) {
  if (file.startsWith(SHARED)) continue;
  for (const name of bareClassesOf(readFileSync(file, 'utf8')))
    homes.set(name, (homes.get(name) ?? new Set()).add(file));
}
const doubled = [...homes].filter(([, files]) => files.size > 1);
for (const [name, files] of doubled)
  console.error(`.${name} is styled in ${[...files].join(' and ')}. Rename it in one of them.`);
if (doubled.length > 0) process.exitCode = 1;

/** The classes that a selector of this sheet begins and ends with, such as `a` in `.a:hover`, and none in `.b .a`. */
function bareClassesOf(css: string): readonly string[] {
  const preludes = css.replaceAll(/\/\*.*?\*\//gs, '').matchAll(/([^{};]+)\{/g);
  return [...preludes]
    .map(([, prelude = '']) => prelude.trim())
    .filter((prelude) => !prelude.startsWith('@'))
    .flatMap((prelude) => prelude.split(/,(?![^(]*\))/))
    .flatMap((selector) => /^\.([\w-]+)[^\s>+~]*$/.exec(selector.trim())?.[1] ?? []);
}
