import { Story } from './story.jsx';

export default function Page() {
  return <Story />;
}
