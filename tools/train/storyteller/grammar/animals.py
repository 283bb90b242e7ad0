"""Animal stories: `A little fox ...`, `The old cat ...`, `Tell me a story about a bear.`"""

from grammar.plot import Plot

ANIMALS = "fox cat dog bear rabbit mouse hedgehog squirrel owl duck frog wolf horse penguin elephant turtle crow goat whale lion".split()
KINDS = "little old young clever hungry lazy shy brave tired gray small curious".split()

# {A} is the animal as introduced (`a little fox`), {a} the animal (`fox`), {b} another one.
ANIMAL_PLOTS = [
    Plot(
        [
            ("{A} found [a round stone|a red apple|a shiny coin] on the path.", "{A} was looking for something to eat and found [a round stone|a red apple|a shiny coin]."),
            ("\"That is mine!\" called a {b} who came running.", "At the same moment, a {b} came along and saw it too."),
            ("They pulled and pushed and shouted at each other.", "\"I saw it first,\" said the {a}. \"No, I did,\" said the {b}."),
            ("They were so loud that they did not see the rain coming.", "While they were fighting, a bird came and took it away."),
            ("Then they looked at each other and felt very silly.", "\"Now we have nothing at all,\" said the {b}."),
            ("The {a} laughed first, and then the {b} laughed as well.", "\"We have each other,\" said the {a}."),
            ("From then on, they shared everything they found.", "Next time, they will cut it in half before the bird comes."),
        ],
    ),
    Plot(
        [
            ("{A} could not sleep because of [a strange light|the loud wind|the full moon].", "{A} lay awake and listened to the night."),
            ("So the {a} got up and went for a walk.", "At last, the {a} got up and looked outside."),
            ("The forest was silver, and every leaf was still.", "There was a path of light, and it led down to the lake."),
            ("At the water, there was a {b} who could not sleep either.", "On a stone sat a {b}, looking at the moon."),
            ("\"Are you afraid of the dark?\" asked the {b}.", "\"What are you thinking about?\" asked the {a}."),
            ("\"A little,\" was the answer, \"but not when somebody is with me.\"", "\"About nothing, and that is so nice,\" was the answer."),
            ("They sat there together until the sky turned pink.", "They counted the stars and always lost count at fifty."),
            ("After that, the {a} slept until noon.", "Since that night, they meet whenever the moon is full."),
        ],
    ),
    Plot(
        [
            ("{A} wanted to learn how to [sing|dance|swim|paint].", "{A} had only one wish: to [sing|dance|swim|paint]."),
            ("\"A {a} cannot do that,\" said all the others.", "Everybody laughed, because no {a} had ever done that before."),
            ("The {a} practiced in secret, every evening behind the old mill.", "So the {a} went deep into the forest to practice alone."),
            ("A {b} watched from a branch and said nothing.", "Only a small {b} knew about it and promised not to tell."),
            ("At first it went very badly.", "The first time, it ended with a big bump on the head."),
            ("But the {a} did not give up, and after some weeks it went better.", "Day by day, it went a little better."),
            ("At the summer feast, the {a} stepped into the middle.", "When the feast came, the {b} called, \"Now show them!\""),
            ("It became so quiet that one could hear the leaves.", "Nobody laughed this time."),
            ("In the end, everybody wanted to learn it too.", "\"Well,\" said the others, \"maybe a {a} can do it after all.\""),
        ],
    ),
    Plot(
        [
            ("{A} lived [on a farm|in a barn|next to the school] and was everybody's friend.", "{A} lived [on a farm|in a barn|next to the school] with a {b}."),
            ("Every morning, the {a} walked around and said hello to everyone.", "The best friend of the {a} was a {b}, and they did everything together."),
            ("One morning, the {a} did not come.", "One cold day, the {a} did not get up."),
            ("The others looked at the empty place and were worried.", "Something was wrong, everybody could see that."),
            ("They found the poor animal in the hay with a bad cold.", "It was a cold, and a bad one."),
            ("The hens brought feathers, the cow brought warm milk, and the goat told jokes.", "One brought a blanket, another one brought tea, and the goose sang, which was meant well."),
            ("After three days, it was all over.", "Slowly the fever went away."),
            ("\"It is good to be ill when one has such friends,\" said the {a}.", "The first thing they did was to walk around and say hello to everyone."),
        ],
        habitual=True,
    ),
    Plot(
        [
            ("{A} set out to find the end of the [river|rainbow|world].", "{A} packed [two apples|some bread|three nuts] and went to see the world."),
            ("On the way, the {a} met a {b} who was going nowhere.", "After a day, the {a} met a {b} sitting on a stone."),
            ("\"May I come with you?\" asked the {b}.", "\"Where are you going?\" asked the {b}. \"Far away,\" said the {a}."),
            ("They walked through fields, over hills and along a noisy stream.", "They slept under bushes and ate blackberries."),
            ("In the mountains, it was so cold that they slept back to back.", "A storm came, and they hid in a hollow tree and told each other stories."),
            ("They never found the end, because there was always one more hill.", "At the end of the road there was the sea, and it was bigger than anything."),
            ("\"It does not matter,\" said the {a}, \"the way was the best part.\"", "\"Shall we go home now?\" asked the {b}."),
            ("They came home in autumn and told their story to everyone.", "So they turned around and walked all the way back, and it was just as beautiful."),
        ],
    ),
    Plot(
        [
            ("{A} lost [a tooth|a glove|a feather|a button] in the snow.", "{A} woke up, and the whole world was white."),
            ("It was the first snow of the year.", "The {a} had never seen snow before."),
            ("\"Somebody has broken the clouds,\" said the {a}.", "Every step made a funny sound."),
            ("A {b} came by and laughed.", "\"That is snow,\" said a {b}, \"and you can play with it.\""),
            ("The {b} showed how to slide down the hill on a piece of bark.", "They rolled a big ball, then a small one, and then they had a snow {a}."),
            ("The {a} landed in a white cloud and wanted to do it again.", "When they got cold, they shared a warm hole under the roots of a tree."),
            ("They played until the first star came out.", "In the evening, there were a hundred tracks in the snow."),
            ("\"Will it be here tomorrow?\" asked the {a}.", "The {a} went to sleep and dreamed in white."),
        ],
    ),
    Plot(
        [
            ("{A} sat in front of the [bakery|fish shop|school] every morning.", "{A} came to the [station|harbor|market] every day at the same time."),
            ("Nobody knew where the {a} came from.", "It had no home and no name."),
            ("A {gender} called {name} always brought {some}.", "{name}, a {gender} from the neighborhood, always brought {some}."),
            ("At first the {a} kept away, but day after day it came a little closer.", "It took a month until the {a} let itself be touched."),
            ("Then winter came, and it was bitterly cold.", "One evening, there was ice on the street."),
            ("{name} opened {p} coat and said, \"Come.\"", "\"You cannot stay here,\" said {name}."),
            ("That is how the {a} found a home.", "The {a} looked around once more and then followed {o}."),
            ("Now it has a name, {petname}, and a warm place by the stove.", "They called it {petname}, and it never had to be cold again."),
        ],
        {"some": "[something to eat|a piece of bread|a bit of cheese]", "a": "[cat|dog|duck|crow|goat]"},
        habitual=True,
    ),
]  # fmt: skip
