"""Favorite things: `My favorite color is blue`. An item is (name, reason, memory); a memory is a past sentence."""

FAVORITES = {
    "color": [
        ("blue", "it is the color of the sea and of the evening sky", "{s} painted {p} whole room blue with {kin}"),
        ("green", "it reminds {o} of the forest after the rain", "{s} got a green bicycle and rode it until dark"),
        ("yellow", "it looks like sunshine", "{s} wore yellow boots every day, even when it was dry"),
        ("red", "it is warm and brave", "{s} knitted a red scarf that was three meters long"),
        ("purple", "it is the color of plums and of kings", "{s} tried to dye a shirt purple, and {p} hands were purple for a week"),
    ],
    "animal": [
        ("the fox", "it is clever and quiet", "{s} saw a fox in the garden, and they looked at each other for a long time"),
        ("the elephant", "it never forgets a friend", "{s} fed an elephant an apple, and it tickled {p} hand"),
        ("the horse", "it is strong and gentle at the same time", "{s} rode a white horse along the beach"),
        ("the owl", "it sees what nobody else can see", "an owl sat on {p} window and did not fly away"),
        ("the dolphin", "it always looks happy", "three dolphins followed {p} boat all the way to the island"),
        ("the cat", "it does what it wants", "a gray cat followed {o} home and never left"),
    ],
    "season": [
        ("spring", "everything begins again", "{s} found the first flowers under the snow and ran home to tell {kin}"),
        ("summer", "the days are long and the lake is warm", "{s} slept in a tent in the garden for a whole week"),
        ("autumn", "the leaves look like gold", "{s} jumped into a big pile of leaves and lost a shoe in it"),
        ("winter", "the snow makes the world so quiet", "{s} built a snowman that was taller than {kin}"),
    ],
    "food": [
        ("tomato soup", "it is warm and simple", "{s} cooked it for the whole family, and not a drop was left"),
        ("apple pie", "it smells of cinnamon", "{s} picked the apples and {kin} baked three pies at once"),
        ("fresh bread with butter", "nothing tastes better in the morning", "{s} ate half of the bread on the way home from the bakery"),
        ("pancakes", "everybody is happy when there are pancakes", "{s} threw a pancake so high that it stuck to the lamp"),
        ("noodles with cheese", "they remind {o} of {kp} kitchen", "{s} ate three plates and could not get up"),
    ],
    "place": [
        ("the old library", "it smells of paper and there is always a free chair", "{s} was reading so long that the librarian gave {o} the key"),
        ("the beach", "{s} can think there", "{s} found a bottle with a letter in it"),
        ("{kp} kitchen", "something good is always on the stove", "{s} learned to make soup there on a rainy day"),
        ("the little bridge over the river", "{s} can see the whole town from there", "{s} met {f} there for the first time"),
        ("the tree house behind the barn", "nobody finds {o} there", "{s} spent a whole night there and listened to the owls"),
    ],
    "book": [
        ("a book about a brave captain", "the captain never gives up", "{s} read it in one night and was very tired at school"),
        ("a story about a boy and a dragon", "the dragon is afraid of mice", "{s} read it to {kin}, and {ks} laughed until {ks} cried"),
        ("an old book of maps", "{s} can travel without leaving {p} room", "{s} found a tiny island that nobody knows"),
        ("a thick book about the stars", "every page holds a new world", "{s} learned ten stars by heart and showed them to {f}"),
    ],
    "day": [
        ("Sunday", "the whole family sits around one big table", "everybody came, and they ate and talked until it was dark"),
        ("Friday", "the weekend is still whole", "{s} went straight from school to the lake with {f}"),
        ("Saturday", "there is a market in the square", "{s} bought a small plant there, and now it is as tall as a door"),
        ("the first day of the holidays", "everything is possible", "{s} woke up at five because {s} was so happy"),
    ],
    "game": [
        ("chess", "every game is different", "{s} won against {kin} for the first time"),
        ("hide and seek", "it can be played everywhere", "{s} hid so well that nobody found {o} for two hours"),
        ("football", "one needs only a ball and some friends", "{s} played in the rain until nobody could tell the teams apart"),
    ],
    "fruit": [
        ("the strawberry", "it tastes like the beginning of summer", "{s} picked a whole basket and brought home only three"),
        ("the apple", "it is sweet and sour at the same time", "{s} climbed an apple tree and threw the best ones down to {f}"),
        ("the cherry", "it comes in pairs", "{s} wore cherries as earrings and made everybody laugh"),
        ("the mango", "it is like eating sunshine", "{s} ate one in the bath because it was so juicy"),
    ],
    "subject": [
        ("math", "there is always an answer", "{s} solved a hard problem on the board, and even the teacher was surprised"),
        ("music", "{s} can sing as loud as {s} <want>", "the whole class sang together, and people stopped in the street"),
        ("history", "it is full of true stories", "{s} found a very old coin and brought it to school"),
        ("art", "there are no wrong answers", "{s} painted a green horse, and it hung in the hall for a year"),
    ],
    "song": [
        ("an old song about the sea", "{kin} used to sing it at night", "{s} sang it at a party, and everybody joined in"),
        ("a slow song about the moon", "it makes {o} calm", "{s} played it on the piano for {f}"),
        ("a funny song about a goat", "nobody can stay angry when they hear it", "{s} sang it on a long bus ride until everyone knew the words"),
    ],
    "toy": [
        ("an old brown bear with one eye", "it knows all of {p} secrets", "{s} lost it on a train, and a kind man sent it back in a box"),
        ("a small wooden boat", "{kin} made it with {kp} own hands", "it sailed down the stream, and {s} ran after it through the whole village"),
        ("a red kite", "it pulls at the string like a living thing", "it flew so high that {s} could hardly see it"),
    ],
    "flower": [
        ("the sunflower", "it always looks at the light", "{s} grew one that was taller than the house door"),
        ("the rose", "it is beautiful and can defend itself", "{s} gave a white rose to {kin}, and {ks} kept it for years"),
        ("the daisy", "it grows everywhere and asks for nothing", "{s} made a chain of daisies that went around the whole garden"),
    ],
    "word": [
        ("hello", "every friendship starts with it", "{s} said it to a stranger at the bus stop, and today they are friends"),
        ("home", "it is warm even when it is only whispered", "{s} wrote it on the door in blue letters"),
    ],
}  # fmt: skip
