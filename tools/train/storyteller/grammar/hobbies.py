"""Hobbies and talents. Every entry is one subject: its lines all speak of the same thing."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hobby:
    """inf and ger complete `I like to ...` and `my talent is ...`; did, trouble and rescue are past sentences."""

    inf: str
    ger: str
    why: str  # completes `I like it because ...`
    place: str  # where and when it is done
    gear: str  # a noun phrase: what it needs
    did: str
    trouble: str
    rescue: str
    praise: str  # what somebody says of it
    dream: str  # completes `one day I want to ...`
    verb: str = "practice"  # what one does to get better at it


HOBBIES = [
    Hobby(
        "[paint pictures|paint]", "painting [pictures|]", "[the colors make {o} happy|every color tells a story]",
        "[by the window|at the kitchen table|in the garden]", "a [small|old|wooden] box of paints",
        "{s} painted [a red boat on a blue lake|a yellow house with a green door|the old tree behind the school]",
        "{s} spilled the blue paint all over the floor",
        "{s} cleaned it up and turned the last blue spot into a little fish",
        "What a beautiful picture", "[show {p} pictures in a museum|paint a whole wall in the town]", "paint",
    ),
    Hobby(
        "draw [animals|maps|faces|]", "drawing [animals|]", "[a pencil is all {s} <need>|a drawing can say more than words]",
        "[on the bus|at the kitchen table|under the big tree]", "a pencil and a thick notebook",
        "{s} drew [a sleeping cat|an old man on a bench|a fox in the snow]",
        "{s} lost {p} favorite pencil on the way home",
        "{kin} gave {o} a new one with {p} name on it",
        "That looks so real", "[draw the pictures for a book|fill a hundred notebooks]", "draw",
    ),
    Hobby(
        "play the piano", "playing the piano", "[music makes the whole house feel warm|the soft notes calm {o} down]",
        "[in the living room|after school|before breakfast]", "an old brown piano",
        "{s} played [a slow song about the moon|a happy dance|an old song for {p} family]",
        "{s} forgot the middle of the song in front of everybody",
        "{s} took a deep breath, started again and played it to the end",
        "I could listen to you all day", "[play in a big concert hall|write {p} own songs]",
    ),
    Hobby(
        "play the guitar", "playing the guitar", "[a guitar can be loud or soft|everybody can sing along]",
        "[on the front steps|in {p} room|by the fire]", "a guitar that once belonged to {kin}",
        "{s} played [three songs at a birthday party|a song for {f}|an old song about the sea]",
        "one string broke with a loud snap", "{s} laughed and played the song on five strings",
        "Play that one again", "[play with a real band|write a song for {kin}]",
    ),
    Hobby(
        "play the [violin|drums|flute]", "making music", "[every song tells a story|music brings people together]",
        "[in the school hall|in {p} room|every evening]", "a good teacher and a lot of patience",
        "{s} played [in the school concert|on a small stage in the park|for the neighbors]",
        "{s} played a very wrong note", "{s} smiled, kept going, and nobody minded",
        "You play so well", "[play in an orchestra|travel with a band]",
    ),
    Hobby(
        "sing", "singing", "[a song can change a bad day|singing makes {o} feel brave]",
        "[in the kitchen|on the way to school|in the choir]", "a glass of water and a good song",
        "{s} sang [in front of the whole school|an old song at a wedding|with the choir in the town square]",
        "{p} voice was shaking at first", "{s} looked at {kin} in the first row and sang louder",
        "You have a lovely voice", "[sing on a big stage|record a song]", "sing",
    ),
    Hobby(
        "dance", "dancing", "[{p} feet cannot keep still when music plays|dancing feels like flying]",
        "[in the kitchen|in a small hall near the station|in front of the mirror]", "a good pair of shoes",
        "{s} danced [at the summer party|on the school stage|with {f} until midnight]",
        "{s} slipped and fell in the middle of a dance", "{s} jumped up again as if it were part of the dance",
        "You dance like a leaf in the wind", "[dance in a big theater|teach children to dance]", "dance",
    ),
    Hobby(
        "read [books|stories|old books|]", "reading [stories aloud|]",
        "[a good book is like a quiet friend|a book can take {o} anywhere]",
        "[in bed with a small lamp|in the library|under the old apple tree]", "a good book and a quiet corner",
        "{s} read [a book about a brave captain|a story about a dragon|a thick book about the stars]",
        "{s} forgot the time and missed the bus", "{s} walked home slowly and finished the last chapter on the way",
        "Read us one more page", "[read every book in the library|open a small bookshop]", "read",
    ),
    Hobby(
        "write [stories|poems|]", "writing [stories|]", "[on paper anything can happen|words are free and there are so many of them]",
        "[at night when the house is quiet|in a small green notebook|at {p} desk]", "a pen and an empty page",
        "{s} wrote [a story about a lost ship|a poem for {kin}|a story about a mouse who could read]",
        "{p} notebook fell into the river", "{s} remembered every line and wrote it all down again",
        "I want to know how it ends", "[write a real book|see {p} name on a book]", "write",
    ),
    Hobby(
        "cook [soup|for {p} family|]", "cooking [for people|]", "[a warm meal makes everybody smile|the kitchen smells wonderful]",
        "[in {kp} kitchen|every Sunday|with fresh vegetables from the market]", "a big pot and a wooden spoon",
        "{s} made [a tomato soup with fresh bread|a big pot of noodles|a pie with six eggs]",
        "{s} used far too much salt", "{s} added two potatoes and some water, and the dish was saved",
        "May I have some more", "[open a small restaurant|cook for a hundred people]", "cook",
    ),
    Hobby(
        "bake [bread|cakes|cookies|]", "baking [bread|cakes|]", "[warm bread makes a house a home|sharing a cake is so much fun]",
        "[on Saturday mornings|with {kin}|in a tiny kitchen]", "flour, butter and a hot oven",
        "{s} baked [a chocolate cake with cherries|an apple pie|a loaf of bread with seeds]",
        "the cake came out black and flat", "{s} turned it into little sweet crumbs for ice cream",
        "This is the best cake in the world", "[have {p} own bakery|bake a cake as tall as a child]", "bake",
    ),
    Hobby(
        "work in the garden", "growing things", "[it is a wonder how a tiny seed becomes a flower|tomatoes from the garden taste best]",
        "[behind the house|in the early morning|next to the old wall]", "good earth, water and time",
        "{s} grew [a pumpkin as big as a chair|sunflowers taller than the fence|a basket of sweet strawberries]",
        "snails ate half of the lettuce", "{s} carried the snails to the meadow, one by one",
        "Your garden is full of life", "[grow a whole field of flowers|plant a hundred trees]", "plant something",
    ),
    Hobby(
        "ride {p} bike", "riding a bike", "[the wind feels so good|a bike can go almost anywhere]",
        "[along the river|down the long hill|every day after school]", "a [red|green|blue] bike with a bell",
        "{s} rode [all the way to the sea|around the lake with {f}|through the forest and back]",
        "{s} got a flat tire far from home", "{s} fixed it with {fp} help and was home before dark",
        "You are as fast as the wind", "[ride across the whole country|win a long race]", "ride",
    ),
    Hobby(
        "swim", "swimming", "[everything is quiet under water|the water makes {o} feel light]",
        "[in the lake|at the pool near the school|in the cold sea]", "a towel and a bit of courage",
        "{s} swam [to the little island and back|across the lake|twenty rounds without a break]",
        "a big wave rolled right over {o}", "{s} stayed calm, turned on {p} back and floated to the beach",
        "You swim like a fish", "[swim with dolphins|cross a wide river]", "swim",
    ),
    Hobby(
        "run", "running", "[running clears {p} head|a long run makes breakfast taste better]",
        "[in the park before breakfast|along the beach|through the fields]", "good shoes and fresh air",
        "{s} ran [ten kilometers for the first time|in the school race|up the hill without stopping]",
        "it began to rain very hard", "{s} laughed, splashed through every puddle and kept running",
        "Nobody can catch you", "[run a marathon|win a gold medal]", "run",
    ),
    Hobby(
        "play [football|soccer|basketball|tennis]", "playing ball games", "[{p} team is like a second family|every game is different]",
        "[on the field behind the school|with {f}|on Saturday afternoons]", "a ball and a few friends",
        "{s} won [the last game of the year|a game in the very last minute|a close game against the big children]",
        "{s} kicked the ball over the wall", "a kind neighbor threw it back with a smile",
        "What a game", "[play for a famous team|play in a big stadium]",
    ),
    Hobby(
        "play chess", "playing chess", "[every game is a little battle of ideas|it teaches {o} to think before acting]",
        "[in the park with {kin}|at the chess club|on rainy days]", "a board and a good opponent",
        "{s} won [against {kin} for the first time|a game that took three hours|a small cup at the chess club]",
        "{s} lost {p} queen in the first five minutes", "{s} did not give up and won with two little pawns",
        "I did not see that coming", "[become a champion|play in a big tournament]",
    ),
    Hobby(
        "build [model boats|small boats|little ships]", "building little boats", "[it takes patience and careful hands|a boat can go anywhere in a dream]",
        "[in the shed behind the house|on long winter evenings|with {kin}]", "wood, glue and a sharp knife",
        "{s} built [a sailing boat with white sails|a ship with three masts|a tiny boat from a walnut]",
        "the boat sank on its very first trip", "{s} pulled it out, filled the holes and tried again",
        "It looks like a real ship", "[build a boat that carries people|sail around the world]", "build something",
    ),
    Hobby(
        "fly kites", "flying kites", "[a kite makes the wind visible|it feels like holding the sky on a string]",
        "[on the beach|on the hill behind the village|on windy days]", "paper, string and a good wind",
        "{s} flew [a red kite shaped like a dragon|a kite as big as a door|two kites at the same time]",
        "the string broke and the kite flew away", "{s} found it in an apple tree two streets away",
        "Look how high it is", "[build the biggest kite in the land|fly a kite on every beach]",
    ),
    Hobby(
        "take [photographs|pictures] of [birds|people|old houses]", "taking photographs",
        "[a photograph keeps a moment forever|{s} <see> small things that others miss]",
        "[early in the morning|in the streets of the old town|on long walks]", "an old camera from {kin}",
        "{s} took a picture of [a fox with her cubs|the first snow|an old couple dancing in the rain]",
        "{s} dropped the camera on the stairs", "it still worked, and the next picture was the best of all",
        "You have a good eye", "[see {p} pictures in a magazine|take a picture in every country]", "take pictures",
    ),
    Hobby(
        "watch birds", "knowing every bird by its song", "[birds are free and full of music|it makes {o} quiet and patient]",
        "[near the lake|at sunrise|from a small wooden hut]", "good eyes and warm clothes",
        "{s} saw [an owl with three chicks|a tiny blue bird on a gate|a hundred geese flying south]",
        "{s} sneezed and all the birds flew away", "{s} waited for an hour, and one after the other they came back",
        "You hear everything", "[see the birds of the far north|work in a bird park]", "listen",
    ),
    Hobby(
        "look at the stars", "finding stars in the night sky", "[the sky is never the same|it makes {p} worries look small]",
        "[on the roof|in the field behind the house|on clear nights]", "a telescope and a warm coat",
        "{s} saw [the rings of a far planet|a shooting star|the dark spots on the moon]",
        "clouds covered the whole sky", "{s} made hot tea and told stories about the stars instead",
        "I have never seen so many stars", "[fly to the moon|find a new star]", "watch the sky",
    ),
    Hobby(
        "collect [stones|shells|stamps|old coins]", "finding small treasures", "[every piece has its own story|it is like a treasure hunt that never ends]",
        "[in a glass box|on a shelf above the bed|in an old wooden case]", "sharp eyes and deep pockets",
        "{s} found [a piece as green as a leaf|one that nobody had ever seen|a very old and rare one]",
        "the box fell down and everything rolled under the bed", "{NF} found every last piece",
        "You could open a museum", "[open a small museum|find a real treasure]", "search",
    ),
    Hobby(
        "[knit|knit warm socks|sew]", "knitting and sewing", "[it is nice to wear what {s} made|{p} hands are busy and {p} head can rest]",
        "[by the fire|on the train|in {kp} big chair]", "wool, needles and time",
        "{s} made [a blue scarf for {kin}|a warm hat for {f}|a coat for the dog]",
        "the cat ran off with the wool", "{s} followed the thread through the whole house and found the cat asleep on it",
        "It is so soft and warm", "[make a coat for every friend|have a little shop]", "knit",
    ),
    Hobby(
        "repair [old clocks|old radios|broken things]", "repairing broken things", "[everything deserves a second chance|it is like solving a puzzle]",
        "[in the garage|at a table full of tools|in the back of {kp} shop]", "small tools and steady hands",
        "{s} repaired [an old clock that had been silent for years|the radio of a neighbor|a toy train]",
        "one tiny screw rolled away and was gone", "{s} found it in {p} own shoe",
        "I thought it was broken forever", "[have a workshop|build a clock that never stops]", "work on it",
    ),
    Hobby(
        "climb [trees|mountains]", "climbing", "[the world looks different from above|it makes {o} feel strong]",
        "[in the forest|with {f}|on weekends]", "strong arms and good shoes",
        "{s} climbed [to the top of the old oak|a tall gray rock|up to the place where eagles live]",
        "{s} did not dare to climb down", "{f} talked to {o} calmly and showed {o} where to put each foot",
        "You climb like a cat", "[stand on the highest mountain|build a house in a tree]", "climb",
    ),
    Hobby(
        "ride horses", "riding horses", "[a horse knows how people feel|galloping feels like flying]",
        "[on a farm near the river|through the forest|every Friday]", "an apple for the horse and a little courage",
        "{s} rode [along the beach at sunset|over a fallen tree|a white horse for the first time]",
        "the horse stopped and {s} fell into the soft grass", "{s} stood up, patted the horse and climbed on again",
        "That horse trusts you", "[have {p} own horse|work on a farm with twenty horses]", "ride",
    ),
    Hobby(
        "do magic tricks", "doing magic tricks", "[people forget their worries for a moment|{s} <love> to see surprised faces]",
        "[at birthday parties|in front of the mirror|for {p} family]", "a deck of cards and a tall hat",
        "{s} made [a coin disappear|an egg come out of a hat|a card jump out of {fp} pocket]",
        "the rabbit ran away in the middle of the show", "{s} pretended that it was part of the trick, and everybody clapped",
        "How did you do that", "[have a show in a theater|invent a new trick]",
    ),
    Hobby(
        "make people laugh", "making people laugh", "[a laugh costs nothing|laughing together makes people friends]",
        "[at school|at dinner|everywhere]", "a good joke at the right moment",
        "{s} told [a joke about a talking fish|a silly story at dinner|ten jokes in a row]",
        "nobody laughed at the first joke", "{s} laughed so hard about that, and then everybody laughed too",
        "Stop, my stomach hurts", "[be a clown in a circus|have a show]", "tell jokes",
    ),
    Hobby(
        "solve puzzles", "solving puzzles", "[every puzzle has an answer|it feels so good when the last piece fits]",
        "[on rainy days|at the big table|with {kin}]", "time, tea and a good lamp",
        "{s} finished [a puzzle with a thousand pieces|the hardest riddle in the book|a puzzle of an old map]",
        "the last piece was missing", "{s} found it under {petname} the {pet}",
        "You never give up", "[become a detective|invent a puzzle for the whole town]", "think",
    ),
    Hobby(
        "build robots", "building robots and machines", "[{s} <like> to know how things work|a machine does exactly what it is told]",
        "[in the garage|in {p} room|at the science club]", "wires, wheels and old batteries",
        "{s} built [a robot that waters the plants|a machine that peels apples|a little car that follows the light]",
        "the robot drove straight into the wall", "{s} found the wrong wire, and after that it worked",
        "You are a real inventor", "[build a robot that can cook|invent something useful for everybody]", "build",
    ),
    Hobby(
        "go fishing", "fishing", "[the lake is quiet in the morning|waiting can be beautiful]",
        "[at the lake with {kin}|from the old bridge|at sunrise]", "a fishing rod and a lot of patience",
        "{s} caught [a fish as long as {p} arm|three silver fish|an old boot and then a big fish]",
        "the biggest fish jumped back into the water", "{s} waved at it and wished it a good life",
        "That is a big one", "[have a small boat|fish in the wide sea]", "fish",
    ),
    Hobby(
        "hike [in the mountains|through the forest]", "finding the way in the mountains", "[the air is fresh and clean|every path leads to something new]",
        "[with {kin}|on weekends|in every season]", "a map, water and good boots",
        "{s} walked [to a lake above the clouds|for six hours without getting tired|to an old castle on a hill]",
        "{s} took the wrong path and got lost", "{s} followed the sound of a stream and found the village again",
        "You always find the way", "[walk across the whole country|see the highest mountains]", "walk",
    ),
    Hobby(
        "help animals", "understanding animals", "[animals never lie|a small kindness means a lot to them]",
        "[at the animal shelter|on the farm of {kp} friend|after school]", "gentle hands and time",
        "{s} helped [a bird with a broken wing|a lost puppy|a hedgehog in the snow]",
        "a frightened cat scratched {p} hand", "{s} spoke softly to it until it began to purr",
        "Animals trust you", "[become an animal doctor|open a home for old dogs]", "help",
    ),
]  # fmt: skip
