import type { KeyboardEvent, ReactNode } from 'react';

import './tab-list.css';

interface TabListProps<Id extends string> {
  readonly label: string;
  readonly tabs: readonly { readonly id: Id; readonly title: string }[];
  /** No tab's id where none is selected. */
  readonly selected: string;
  /** @param isPassing By an arrow key, which goes on to other tabs. */
  readonly onSelect: (id: Id, isPassing: boolean) => void;
}

function tabId(id: string): string {
  return `tab-${id}`;
}

function tabPanelId(id: string): string {
  return `panel-${id}`;
}

/** Scrolls sideways if the tabs are too many. The Tab key stops once; arrows, Home and End choose. */
export function TabList<Id extends string>({ label, tabs, selected, onSelect }: TabListProps<Id>) {
  const index = tabs.findIndex(({ id }) => id === selected);
  // With no tab selected, the keyboard enters at the first.
  const stop = Math.max(0, index);

  const selectByKey = (event: KeyboardEvent): void => {
    const next = tabs.at(targetIndex(event.key, index, tabs.length));
    if (next === undefined || !TAB_KEYS.has(event.key)) return;
    event.preventDefault();
    onSelect(next.id, true);
    document.querySelector<HTMLElement>(`#${CSS.escape(tabId(next.id))}`)?.focus();
  };

  return (
    <div className="tabs" role="tablist" aria-label={label}>
      {tabs.map(({ id, title }, position) => (
        <button
          key={id}
          type="button"
          role="tab"
          id={tabId(id)}
          aria-selected={id === selected}
          {...(id === selected && { 'aria-controls': tabPanelId(id) })}
          tabIndex={position === stop ? 0 : -1}
          onClick={() => onSelect(id, false)}
          onKeyDown={selectByKey}
          ref={id === selected ? showTab : undefined}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

/** Scrolls the list alone: the page stays where it is. */
function showTab(tab: HTMLElement | null): void {
  const list = tab?.parentElement;
  if (!tab || !list) return;
  const [start, end] = [tab.offsetLeft - list.offsetLeft, tab.offsetLeft - list.offsetLeft + tab.offsetWidth];
  if (start < list.scrollLeft) list.scrollLeft = start;
  else if (end > list.scrollLeft + list.clientWidth) list.scrollLeft = end - list.clientWidth;
}

interface TabPanelProps {
  /** The id of its tab. */
  readonly id: string;
  readonly className: string;
  readonly children: ReactNode;
}

export function TabPanel({ id, className, children }: TabPanelProps) {
  return (
    <div className={className} role="tabpanel" id={tabPanelId(id)} aria-labelledby={tabId(id)}>
      {children}
    </div>
  );
}

const TAB_KEYS: ReadonlySet<string> = new Set(['ArrowRight', 'ArrowLeft', 'Home', 'End']);

function targetIndex(key: string, index: number, numTabs: number): number {
  if (key === 'Home') return 0;
  if (key === 'End') return numTabs - 1;
  const step = key === 'ArrowRight' ? 1 : -1;
  return (index + step + numTabs) % numTabs;
}
